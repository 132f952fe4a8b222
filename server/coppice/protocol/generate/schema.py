"""The JSON Schema of every message, as it is on the wire."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.alias_generators import to_camel

from coppice.errors import CoppiceError
from coppice.protocol.handshake import PROTOCOL_VERSION, Capability, InitializationOptions
from coppice.protocol.methods import METHODS, Method
from coppice.protocol.notifications import NOTIFICATIONS
from coppice.protocol.prompt import PromptUpdate
from coppice.protocol.server_requests import SERVER_REQUESTS, ServerRequest
from coppice.protocol.trees import APPENDED_BY
from coppice.tree.entries import Entry
from coppice.tree.messages import AssistantContent, Message, UserContent

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_UNIONS: Final[dict[str, Any]] = {
    "Entry": Entry,
    "Message": Message,
    "UserContent": UserContent,
    "AssistantContent": AssistantContent,
    "PromptUpdate": PromptUpdate,
}
_HANDSHAKE: Final = {"initializationOptions": InitializationOptions, "experimental": Capability}

Schema = dict[str, Any]


def build() -> Schema:
    """The document: `requests`, `serverRequests`, `notifications` and `handshake` point into `$defs`.

    A request's `partialResult` is the union of what may be sent on its `partialResultToken`.
    """
    requests = {name: _parts(method) for name, method in METHODS.items()}
    server_requests = {name: _parts(request) for name, request in SERVER_REQUESTS.items()}
    notifications = {name: {"params": params} for name, params in NOTIFICATIONS.items()}
    messages = [_HANDSHAKE, *requests.values(), *server_requests.values(), *notifications.values()]
    from_clients = [
        InitializationOptions,
        *(parts["params"] for parts in requests.values()),
        *(kind for parts in server_requests.values() for part, kind in parts.items() if part != "params"),
    ]
    definitions = _definitions(kind for parts in messages for kind in parts.values())
    _use_new_entries(definitions)
    for definition in definitions.values():
        _require_tags(definition)
    for name in definitions.keys() - _reachable(definitions, from_clients):
        _write_as_sent(definitions[name])
    return {
        "$schema": DIALECT,
        "title": f"The Coppice protocol, version {PROTOCOL_VERSION}",
        "handshake": _references(_HANDSHAKE),
        "requests": {name: _references(parts) for name, parts in requests.items()},
        "serverRequests": {name: _references(parts) for name, parts in server_requests.items()},
        "notifications": {name: _references(parts) for name, parts in notifications.items()},
        "$defs": dict(sorted(definitions.items())),
    }


def error_codes() -> dict[str, str]:
    """The `data.code` values, each with what it means where the name does not say it."""
    on_the_wire = [
        error for error in CoppiceError.__subclasses__() if error.__module__ == CoppiceError.__module__
    ]
    return {error.code: " ".join((error.__doc__ or "").split()) for error in on_the_wire}


def references(schema: Any) -> Iterator[str]:
    """The names of the definitions that `schema` points to directly."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield name_of(schema)
        for value in schema.values():
            yield from references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from references(value)


def name_of(reference: Schema) -> str:
    """The name of the definition that `reference` points to."""
    return str(reference["$ref"]).removeprefix("#/$defs/")


def _parts(request: Method[Any, Any] | ServerRequest) -> dict[str, Any]:
    """The types of the messages that belong to a request."""
    partial = getattr(request, "partial_result", None)
    parts = {"params": request.params, "result": request.result}
    return parts if partial is None else parts | {"partialResult": partial}


def _references(parts: dict[str, Any]) -> Schema:
    return {part: {"$ref": f"#/$defs/{_name(kind)}"} for part, kind in parts.items()}


def _name(kind: Any) -> str:
    """The name of a message type's definition."""
    return next((name for name, union in _UNIONS.items() if union == kind), None) or kind.__name__


def _definitions(kinds: Iterable[Any]) -> dict[str, Schema]:
    wanted: dict[str, Any] = dict(_UNIONS)
    for kind in kinds:
        if wanted.setdefault(_name(kind), kind) != kind:
            raise ValueError(f"Two types of messages are called {_name(kind)}")
    schemas, document = TypeAdapter.json_schemas(
        [(name, "validation", TypeAdapter(kind)) for name, kind in wanted.items()], by_alias=True
    )
    unions = {name: _plain(schemas[name, "validation"]) for name in _UNIONS}
    plain = {name: _plain(definition) for name, definition in document["$defs"].items()}
    return {name: _with_named_unions(definition, unions) for name, definition in plain.items()} | unions


def _plain(schema: Any) -> Any:
    """`schema` without titles, which repeat names, and without defaults of null."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {
        key: {name: _plain(value) for name, value in item.items()} if key == "properties" else _plain(item)
        for key, item in schema.items()
        if key not in ("title", "discriminator") and not (key == "default" and item is None)
    }
    description = plain.get("description")
    if isinstance(description, str):
        plain["description"] = _described(description, plain.get("properties", {}))
    return plain


def _described(docstring: str, properties: Schema) -> str:
    """A docstring with a line for each paragraph and its properties' names as the wire has them."""

    def as_sent(match: re.Match[str]) -> str:
        name = to_camel(match[1])
        return f"`{name}`" if name in properties else match[0]

    paragraphs = (" ".join(paragraph.split()) for paragraph in docstring.split("\n\n"))
    return re.sub(r"`(\w+)`", as_sent, "\n".join(paragraphs))


def _with_named_unions(schema: Any, unions: dict[str, Schema]) -> Any:
    for name, union in unions.items():
        if schema == union:
            return {"$ref": f"#/$defs/{name}"}
    if isinstance(schema, dict):
        return {key: _with_named_unions(value, unions) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_with_named_unions(value, unions) for value in schema]
    return schema


def _use_new_entries(definitions: dict[str, Schema]) -> None:
    """Give `NewEntry` the shape its validator asks for: an entry with id, parent and time left open."""
    given = definitions["NewEntry"]
    names = []
    for name in (name_of(member) for member in definitions["Entry"]["oneOf"]):
        entry = definitions[name]
        if entry["properties"]["type"]["const"] in APPENDED_BY:
            continue
        names.append(name)
        definitions[f"New{name}"] = {
            **entry,
            "description": f"A `{name}` to append.",
            "properties": {
                **entry["properties"],
                **{key: given["properties"][key] for key in ("id", "timestamp")},
            },
            "required": [key for key in entry["required"] if key not in ("id", "parentId", "timestamp")],
        }
    definitions["NewEntry"] = {
        "description": given["description"],
        "oneOf": [{"$ref": f"#/$defs/New{name}"} for name in names],
    }


def _require_tags(definition: Schema) -> None:
    """A tag (`type`, `role`) distinguishes the members of a union, so it is required."""
    properties = definition.get("properties", {})
    tags = [key for key, value in properties.items() if "const" in value]
    for tag in tags:
        properties[tag].pop("default", None)
    required = {*definition.get("required", ()), *tags}
    if required:
        definition["required"] = [key for key in properties if key in required]


def _write_as_sent(definition: Schema) -> None:
    """In what only the server sends, an optional property is absent, never null, and defaults are written."""
    if definition.get("additionalProperties") is True or "properties" not in definition:
        return  # it is stored, and sent as it was stored
    required = set(definition.get("required", ()))
    properties = definition["properties"]
    for key, value in properties.items():
        if "default" in value:
            del value["default"]
            required.add(key)
        elif key not in required and "anyOf" in value:
            kinds = [kind for kind in value["anyOf"] if kind != {"type": "null"}]
            rest = {other: item for other, item in value.items() if other != "anyOf"}
            properties[key] = {**rest, **(kinds[0] if len(kinds) == 1 else {"anyOf": kinds})}
    definition["required"] = [key for key in properties if key in required]


def _reachable(definitions: dict[str, Schema], kinds: Iterable[Any]) -> set[str]:
    reachable: set[str] = set()
    waiting = [_name(kind) for kind in kinds]
    while waiting:
        name = waiting.pop()
        if name not in reachable:
            reachable.add(name)
            waiting.extend(references(definitions[name]))
    return reachable
