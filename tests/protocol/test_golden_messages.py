"""One written-out example of every message: what the models read, write and the schema allows."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ValidationError

from coppice.lsp import codec
from coppice.protocol.handshake import Capability, InitializationOptions
from coppice.protocol.methods import METHODS, LongMethod
from coppice.protocol.notifications import NOTIFICATIONS
from coppice.protocol.server_requests import SERVER_REQUESTS

GOLDEN = Path(__file__).with_name("golden")
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "protocol.schema.json").read_text(encoding="utf-8"))


def messages() -> Iterator[tuple[str, type[BaseModel], dict[str, Any]]]:
    """The name, the model and the schema of every message."""
    yield "initializationOptions", InitializationOptions, SCHEMA["handshake"]["initializationOptions"]
    yield "experimental", Capability, SCHEMA["handshake"]["experimental"]
    for name, method in METHODS.items():
        yield f"{name}.params", method.params, SCHEMA["requests"][name]["params"]
        yield f"{name}.result", method.result, SCHEMA["requests"][name]["result"]
        partial = method.partial_result if isinstance(method, LongMethod) else None
        for part in get_args(get_args(partial)[0]) if partial else ():
            yield f"{name}.{part.model_fields['kind'].default}", part, {"$ref": f"#/$defs/{part.__name__}"}
    for name, request in SERVER_REQUESTS.items():
        yield f"{name}.params", request.params, SCHEMA["serverRequests"][name]["params"]
        yield f"{name}.result", request.result, SCHEMA["serverRequests"][name]["result"]
        if request.partial_result is not None:
            yield (
                f"{name}.partialResult",
                request.partial_result,
                SCHEMA["serverRequests"][name]["partialResult"],
            )
    for name, params in NOTIFICATIONS.items():
        yield f"{name}.params", params, SCHEMA["notifications"][name]["params"]


OF_ANY_TYPE = {("coppice.context.result", "messages"), ("coppice.invokeTool.result", "details")}
MESSAGES = {name.replace("/", "."): (model, schema) for name, model, schema in messages()}
every_message = pytest.mark.parametrize("name", MESSAGES)


def golden(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return value


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({**MESSAGES[name][1], "$defs": SCHEMA["$defs"]})


def test_every_message_has_an_example_and_every_example_a_message() -> None:
    assert sorted(path.stem for path in GOLDEN.glob("*.json")) == sorted(MESSAGES)


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@every_message
def test_an_example_is_written_again_as_it_was_read(name: str) -> None:
    model = MESSAGES[name][0].model_validate(golden(name))
    assert json.loads(codec.encode(model, str)) == golden(name)


@every_message
def test_an_example_matches_the_schema(name: str) -> None:
    assert [error.message for error in validator(name).iter_errors(golden(name))] == []


@every_message
def test_an_example_shows_every_property(name: str) -> None:
    shape = SCHEMA["$defs"][MESSAGES[name][1]["$ref"].removeprefix("#/$defs/")]
    hidden = {"error"} if name == "coppice.compactionEnded.params" else set()
    hidden |= {"content"} if name == "coppice.conversation.import.params" else set()
    hidden |= {"after"} if name == "coppice.entries.params" else set()
    hidden |= {"uri"} if name.startswith("coppice.conversation.export") else set()
    assert shape.get("properties", {}).keys() - hidden == golden(name).keys()


@every_message
def test_what_the_schema_requires_cannot_be_left_out(name: str) -> None:
    shape = SCHEMA["$defs"][MESSAGES[name][1]["$ref"].removeprefix("#/$defs/")]
    for key in shape.get("required", ()):
        rest = {other: value for other, value in golden(name).items() if other != key}
        assert not validator(name).is_valid(rest)


@every_message
def test_a_property_of_the_wrong_type_fits_neither_model_nor_schema(name: str) -> None:
    for key, value in golden(name).items():
        if (name, key) in OF_ANY_TYPE:
            continue
        wrong = {**golden(name), key: 5 if not isinstance(value, int) or isinstance(value, bool) else "five"}
        if key in ("workDoneToken", "partialResultToken"):
            wrong[key] = 1.5
        assert not validator(name).is_valid(wrong), key
        with pytest.raises(ValidationError):
            MESSAGES[name][0].model_validate(wrong)


@pytest.mark.parametrize("entry", golden("coppice.append.params")["entries"], ids=lambda entry: entry["type"])
def test_a_new_entry_needs_what_its_type_needs(entry: dict[str, Any]) -> None:
    entries = [{key: value for key, value in entry.items() if key in ("type", "id", "timestamp")}]
    wrong = {**golden("coppice.append.params"), "entries": entries}
    assert not validator("coppice.append.params").is_valid(wrong)
    with pytest.raises(ValidationError):
        MESSAGES["coppice.append.params"][0].model_validate(wrong)


@pytest.mark.parametrize("name", ["label", "pin"])
def test_an_entry_that_has_a_method_is_not_appended(name: str) -> None:
    entry = {
        key: value for key, value in golden(f"coppice.{name}.result")["entry"].items() if value is not None
    }
    wrong = {**golden("coppice.append.params"), "entries": [entry]}
    assert not validator("coppice.append.params").is_valid(wrong)
    with pytest.raises(ValidationError, match=f"appended by coppice/{name}"):
        MESSAGES["coppice.append.params"][0].model_validate(wrong)
