"""The table of methods: complete, and bound to the work of the service."""

import re
from pathlib import Path

import coppice.service
from coppice.protocol.base import LongParams, StreamingParams
from coppice.protocol.methods import COMMANDS, METHODS, LongMethod
from coppice.service.methods import Dispatcher
from coppice.service.service import Service


def test_every_method_is_bound_to_a_use_case() -> None:
    assert Dispatcher(Service()).bound() == METHODS.keys()


def test_a_method_takes_a_progress_token_when_it_is_long_and_only_then() -> None:
    long = {name for name, method in METHODS.items() if isinstance(method, LongMethod)}
    assert long == {name for name, method in METHODS.items() if issubclass(method.params, LongParams)}


def test_a_method_takes_a_token_for_parts_when_its_result_has_parts_and_only_then() -> None:
    parts = {name for name, each in METHODS.items() if isinstance(each, LongMethod) and each.partial_result}
    assert parts == {name for name, each in METHODS.items() if issubclass(each.params, StreamingParams)}


def test_a_method_has_the_commands_of_the_contract() -> None:
    assert {command: method.name for command, method in COMMANDS.items()} == {
        "coppice.server.compact": "coppice/compact",
        "coppice.server.navigate": "coppice/navigate",
        "coppice.server.summarize": "coppice/summarize",
        "coppice.server.list": "coppice/conversation/list",
        "coppice.server.tree": "coppice/tree",
        "coppice.server.newConversation": "coppice/conversation/create",
    }


def test_every_property_of_params_is_read_by_a_use_case() -> None:
    service = Path(coppice.service.__file__).parent
    sources = "\n".join(path.read_text(encoding="utf-8") for path in service.rglob("*.py"))
    read = set(re.findall(r"\.(\w+)\b", sources))
    tokens = {"work_done_token", "partial_result_token"}
    unread = {
        f"{name}: {field}"
        for name, method in METHODS.items()
        for field in method.params.model_fields.keys() - tokens
        if field not in read
    }
    assert unread == set()
