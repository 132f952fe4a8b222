"""The tables of docs/protocol.md, between markers that name them."""

import re
from collections.abc import Callable
from typing import Final

from coppice.protocol.generate.schema import Schema, error_codes, name_of
from coppice.protocol.generate.typescript import type_of
from coppice.protocol.methods import COMMANDS, METHODS, LongMethod
from coppice.protocol.server_requests import SERVER_REQUESTS
from coppice.settings import Settings

_MARKED: Final = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(text: str, document: Schema) -> str:
    """`text` with each marked place filled anew. Raises KeyError for a marker that names no table."""
    tables: dict[str, Callable[[Schema], str]] = {
        "requests": _requests,
        "server_requests": _server_requests,
        "notifications": _notifications,
        "types": _types,
        "errors": lambda _: _errors(),
        "commands": lambda _: _commands(),
        "settings": lambda _: _settings(),
    }
    return _MARKED.sub(lambda found: f"{found[1]}{tables[found[2]](document)}\n{found[3]}", text)


def _requests(document: Schema) -> str:
    rows = [
        [
            f"`{name}`",
            _link(parts["params"]),
            _results(parts),
            "yes" if isinstance(METHODS[name], LongMethod) else "",
        ]
        for name, parts in document["requests"].items()
    ]
    return _table(["method", "params", "result", "long"], rows)


def _server_requests(document: Schema) -> str:
    rows = [
        [
            f"`{name}`",
            _link(parts["params"]),
            _results(parts),
            f"`{SERVER_REQUESTS[name].option}`",
        ]
        for name, parts in document["serverRequests"].items()
    ]
    return _table(["method", "params", "result", "offered in"], rows)


def _results(parts: Schema) -> str:
    partial = f", in parts {_link(parts['partialResult'])}" if "partialResult" in parts else ""
    return _link(parts["result"]) + partial


def _notifications(document: Schema) -> str:
    rows = [[f"`{name}`", _link(parts["params"])] for name, parts in document["notifications"].items()]
    return _table(["method", "params"], rows)


def _types(document: Schema) -> str:
    return "\n\n".join(
        _type(name, definition)
        for name, definition in document["$defs"].items()
        if _described_as(name) == name
    )


def _type(name: str, definition: Schema) -> str:
    parts = [f"### {name}", definition.get("description", "")]
    if "oneOf" in definition:
        parts.append("One of " + ", ".join(_link(member) for member in definition["oneOf"]) + ".")
    elif definition.get("properties"):
        required = definition.get("required", ())
        rows = [
            [f"`{key}`", f"`{_cell(type_of(value))}`", "" if key in required else "optional"]
            for key, value in definition["properties"].items()
        ]
        parts.append(_table(["property", "type", ""], rows))
    else:
        parts.append("No properties.")
    return "\n\n".join(part for part in parts if part)


def _errors() -> str:
    rows = [[f"`{code}`", meaning] for code, meaning in error_codes().items()]
    return _table(["`data.code`", "when"], rows)


def _commands() -> str:
    rows = [[f"`{command}`", f"`{method.name}`"] for command, method in COMMANDS.items()]
    return _table(["command", "the same as"], rows)


def _settings() -> str:
    rows: list[list[str]] = []
    for section, field in Settings.model_fields.items():
        default = getattr(Settings(), section)
        name = field.alias or section
        if hasattr(default, "model_dump"):
            for key, value in default.model_dump(mode="json", by_alias=True).items():
                rows.append([f"`{name}.{key}`", _default(value)])
        else:
            rows.append([f"`{name}.*`", _default(default)])
    return _table(["setting", "default"], rows)


def _default(value: object) -> str:
    return "" if value is None else f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _link(reference: Schema) -> str:
    name = name_of(reference)
    return f"[{name}](#{_described_as(name).lower()})"


def _described_as(name: str) -> str:
    """The type under whose heading `name` is described: a new entry is an entry with less required."""
    return name if name == "NewEntry" else name.removeprefix("New")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
