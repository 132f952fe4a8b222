"""The JSON Schema of every message, as it is on the wire."""

import re
from collections.abc import Iterator
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.alias_generators import to_camel

from coppice.errors import CoppiceError
from coppice.protocol.handshake import PROTOCOL_VERSION, Capability, InitializationOptions
from coppice.protocol.methods import METHODS, LongMethod
from coppice.protocol.notifications import NOTIFICATIONS
from coppice.protocol.prompt import PromptUpdate
from coppice.protocol.server_requests import SERVER_REQUESTS
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
_PARTS: Final = ("params", "result", "partialResult")
_HANDSHAKE: Final = {"initializationOptions": InitializationOptions, "experimental": Capability}

Schema = dict[str, Any]


def build() -> Schema:
    """The document: `requests`, `serverRequests`, `notifications` and `handshake` point into `$defs`.

    A request's `partialResult` is the union of what may be sent on its `partialResultToken`.
    """
    roots: dict[str, Any] = {
        **_HANDSHAKE,
        **{f"{name} params": method.params for name, method in METHODS.items()},
        **{f"{name} result": method.result for name, method in METHODS.items()},
        **{_sent(name): request.params for name, request in SERVER_REQUESTS.items()},
        **{_answered(name): request.result for name, request in SERVER_REQUESTS.items()},
        **{_in_parts(name): kind for name, kind in _client_parts()},
        **NOTIFICATIONS,
    }
    refs, definitions = _pydantic_schemas(roots)
    refs |= {f"{name} partialResult": _union_of(kind) for name, kind in _partial_results()}
    _use_new_entries(definitions)
    for definition in definitions.values():
        _require_tags(definition)
    _be_exact_about_what_is_sent(definitions, refs)
    return {
        "$schema": DIALECT,
        "title": f"The Coppice protocol, version {PROTOCOL_VERSION}",
        "handshake": {name: refs[name] for name in _HANDSHAKE},
        "requests": {
            name: {part: refs[f"{name} {part}"] for part in _PARTS if f"{name} {part}" in refs}
            for name in METHODS
        },
        "serverRequests": {
            name: {
                "params": refs[_sent(name)],
                "result": refs[_answered(name)],
                **({"partialResult": refs[_in_parts(name)]} if _in_parts(name) in refs else {}),
            }
            for name in SERVER_REQUESTS
        },
        "notifications": {name: {"params": refs[name]} for name in NOTIFICATIONS},
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


def _partial_results() -> Iterator[tuple[str, Any]]:
    for name, method in METHODS.items():
        if isinstance(method, LongMethod) and method.partial_result:
            yield name, method.partial_result


def _client_parts() -> Iterator[tuple[str, Any]]:
    """The parts that clients may send before they answer."""
    requests = SERVER_REQUESTS.items()
    return ((name, request.partial_result) for name, request in requests if request.partial_result)


def _union_of(kind: Any) -> Schema:
    return {"$ref": f"#/$defs/{next(name for name, union in _UNIONS.items() if union == kind)}"}


def _pydantic_schemas(roots: dict[str, Any]) -> tuple[dict[str, Schema], dict[str, Schema]]:
    wanted = roots | _UNIONS
    schemas, document = TypeAdapter.json_schemas(
        [(name, "validation", TypeAdapter(kind)) for name, kind in wanted.items()], by_alias=True
    )
    unions = {name: _plain(schemas[name, "validation"]) for name in _UNIONS}
    definitions = {
        name: _with_named_unions(_plain(definition), unions) for name, definition in document["$defs"].items()
    }
    definitions |= unions
    return {name: {"$ref": schemas[name, "validation"]["$ref"]} for name in roots}, definitions


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

    def as_sent(found: re.Match[str]) -> str:
        name = to_camel(found[1])
        return f"`{name}`" if name in properties else found[0]

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
    names = [name_of(member) for member in definitions["Entry"]["oneOf"]]
    for name in names:
        entry = definitions[name]
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


def _be_exact_about_what_is_sent(definitions: dict[str, Schema], refs: dict[str, Schema]) -> None:
    """In what only the server sends, an optional property is absent, never null, and defaults are written."""
    incoming = {
        "initializationOptions",
        *(f"{name} params" for name in METHODS),
        *(_answered(name) for name in SERVER_REQUESTS),
        *(_in_parts(name) for name in SERVER_REQUESTS),
    }
    taken = _reachable(definitions, [ref for name, ref in refs.items() if name in incoming])
    given = [ref for name, ref in refs.items() if name not in incoming]
    for name in _reachable(definitions, given) - taken:
        definition = definitions[name]
        stored = definition.get("additionalProperties") is True or "properties" not in definition
        if not stored:
            _write_as_sent(definition)


def _write_as_sent(definition: Schema) -> None:
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


def _sent(name: str) -> str:
    return f"{name} as the server sends it"


def _answered(name: str) -> str:
    return f"{name} as the client answers it"


def _reachable(definitions: dict[str, Schema], roots: list[Schema]) -> set[str]:
    found: set[str] = set()
    waiting = [name_of(root) for root in roots]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(references(definitions[name]))
    return found


def _in_parts(name: str) -> str:
    return f"{name} as the client sends it in parts"
