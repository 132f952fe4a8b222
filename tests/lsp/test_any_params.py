"""Whatever params a method gets, the answer is a result or a refusal, and never a fault of the server."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lsp.raw_client import RawServer

from coppice.protocol.base import MAX_URI_CHARS
from coppice.protocol.methods import METHODS

GOLDEN = Path(__file__).parents[1] / "protocol" / "golden"
FORESEEN = {-32602, -32803}
NUMBERS = [0, -1, 2**31, 2**63, 2**64, 10**30, 10**400, 1.5, -0.0, 1e300]
TEXTS = ["", "e1", "\x00", "a" * 300, "../../etc", "\ud83d", "file:///", "untitled:x"]
OTHERS: list[Any] = [None, True, [], {}, [None], [[]], {"": None}, {"type": "message"}]
SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUE: st.SearchStrategy[Any] = st.sampled_from([*NUMBERS, *TEXTS, *OTHERS]) | st.recursive(
    SCALAR | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
STEPS = st.lists(st.tuples(st.integers(0, 1000), VALUE), min_size=1, max_size=3)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Each container of `value` with each of its keys."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    below = [(value, key) for key in keys]
    for key in keys:
        if isinstance(value[key], dict | list):
            below += places(value[key])
    return below


@pytest.fixture(scope="module")
def conversation_id(shared: RawServer) -> str:
    entries = json.loads((GOLDEN / "coppice.append.params.json").read_text(encoding="utf-8"))["entries"]
    about = {"conversationId": shared.result("coppice/conversation/create", {})["conversation"]["id"]}
    for entry in entries:
        entry.pop("id", None)
        entry.pop("firstKeptEntryId", None)
        shared.request("coppice/append", {**about, "entries": [entry]})
    return str(about["conversationId"])


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"coppice/conversation/delete"}))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_a_changed_example_is_answered_or_refused(
    server: RawServer, conversation_id: str, method: str, steps: list[tuple[int, Any]]
) -> None:
    name = f"{method.replace('/', '.')}.params.json"
    params = json.loads((GOLDEN / name).read_text(encoding="utf-8"))
    if "conversationId" in params:
        params["conversationId"] = conversation_id
    params.pop("uri", None)
    for number, value in steps:
        if changeable := places(params):
            container, key = changeable[number % len(changeable)]
            container[key] = copy.deepcopy(value)
    answer = server.request(method, params)
    assert "result" in answer or answer["error"]["code"] in FORESEEN, (params, answer)


@pytest.mark.parametrize(
    "method", [name for name, each in METHODS.items() if "context_window" in each.params.model_fields]
)
def test_a_window_that_no_float_holds_is_refused(
    server: RawServer, conversation_id: str, method: str
) -> None:
    params = json.loads((GOLDEN / f"{method.replace('/', '.')}.params.json").read_text(encoding="utf-8"))
    params |= {"conversationId": conversation_id, "contextWindow": 10**400}
    assert server.request(method, params)["error"]["code"] == -32602


def test_tokens_that_no_float_holds_are_refused(server: RawServer, conversation_id: str) -> None:
    params = {"conversationId": conversation_id, "keepTokens": 10**400}
    assert server.request("coppice/clearToolResults", params)["error"]["code"] == -32602


@pytest.mark.parametrize(
    "uri", ["file:///" + "a" * 5_000, "file:///" + "a/" * 2_500, "file:///x" + "%00" * 300]
)
def test_the_uri_of_a_folder_may_be_longer_than_a_file_system_allows(server: RawServer, uri: str) -> None:
    about = {"workspaceUri": uri}
    session = json.dumps({"type": "session", "version": 3, "id": "s", "timestamp": "", "cwd": "/"})
    server.result("coppice/conversation/import", {**about, "content": session})
    server.result("coppice/model", about)
    made = server.result("coppice/conversation/create", about)["conversation"]["id"]
    server.result("coppice/usage", {"conversationId": made})
    too_long = {"workspaceUri": "file:///" + "a" * MAX_URI_CHARS}
    assert server.request("coppice/conversation/create", too_long)["error"]["code"] == -32602
