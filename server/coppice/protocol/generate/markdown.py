"""The tables of docs/protocol.md, between markers that name them."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final

from pydantic import BaseModel

from coppice.protocol.generate.schema import Schema, error_codes, name_of
from coppice.protocol.generate.typescript import type_of
from coppice.protocol.methods import COMMANDS, METHODS, LongMethod
from coppice.protocol.server_requests import SERVER_REQUESTS
from coppice.settings import Settings

_SUBJECTS: Final = {
    "Conversations": ("conversations",),
    "Entries and trees": ("trees", "outline", "navigation"),
    "Entry types": ("entries",),
    "Messages and their contents": ("messages", "content"),
    "Compaction": ("compaction", "clearing"),
    "Window and usage": ("usage", "model"),
    "Earlier work": ("history", "ledger", "state", "notes"),
    "Turns that the client runs": ("recovery",),
    "Turns that the server runs": ("prompt", "tools", "sampling"),
    "Hooks": ("hooks",),
    "Files and events": ("file_events", "notifications"),
}
"""The headings of types, with the modules whose names end their modules' paths."""

_PACKAGES: Final = ("coppice.protocol.", "coppice.tree.")
"""Of the models that are described; models of other packages may have their names."""

_OTHER: Final = "Everything else"
_LIMITS: Final = {
    "default": "default {}",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
}
"""What the schema states of a property besides its type, as the tables state it."""

_MARKED: Final = re.compile(r"(<!-- generated: (\w+)([\w/\s]*) -->\n).*?(<!-- end -->)", re.DOTALL)
_CONTENTS: Final = re.compile(r"(<!-- contents -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(text: str, document: Schema) -> str:
    """`text` with each marked place filled anew.

    Raises KeyError for a marker that names no table or no request, ValueError where a request is in no table.
    """
    tables: dict[str, Callable[[Schema], str]] = {
        "server_requests": _server_requests,
        "notifications": _notifications,
        "types": _types,
        "errors": lambda _: _errors(),
        "commands": lambda _: _commands(),
        "settings": lambda _: _settings(),
    }
    shown: set[str] = set()

    def table(marked: re.Match[str]) -> str:
        names = marked[3].split()
        shown.update(names)
        made = _requests(document, names) if names else tables[marked[2]](document)
        return f"{marked[1]}{made}\n{marked[4]}"

    whole = _MARKED.sub(table, text)
    if absent := document["requests"].keys() - shown:
        raise ValueError(
            f"docs/protocol.md has no table with {', '.join(sorted(absent))}: add the name to one"
        )
    return _CONTENTS.sub(lambda marked: f"{marked[1]}{_contents(whole)}\n{marked[2]}", whole)


def _contents(text: str) -> str:
    """The headings of second level, and those of the types below theirs."""
    lines = []
    for level, heading in re.findall(r"^(##|###) (.+)$", text, re.MULTILINE):
        indent = "" if level == "##" else "  "
        lines.append(f"{indent}- [{heading}](#{_anchor(heading)})")
    return "\n".join(lines)


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _requests(document: Schema, names: Iterable[str]) -> str:
    rows = []
    for name in names:
        parts = document["requests"][name]
        is_long = "yes" if isinstance(METHODS[name], LongMethod) else ""
        partial = f", in parts {_link(parts['partialResult'])}" if "partialResult" in parts else ""
        params, result = (_properties(document, parts[part]) for part in ("params", "result"))
        rows.append([f"`{name}`", params, result + partial, is_long])
    return _table(["method", "params", "result", "long"], rows)


def _properties(document: Schema, reference: Schema) -> str:
    """The names of a type's properties, which lead to the type."""
    definition = document["$defs"][name_of(reference)]
    required = definition.get("required", ())
    names = [
        f"`{name}`" if name in required else f"`{name}?`"
        for name in definition.get("properties", ())
        if name != "workDoneToken"
    ]
    return f"[{', '.join(names) or 'none'}](#{name_of(reference).lower()})"


def _subject(model: type) -> str:
    module = model.__module__.rpartition(".")[2]
    return next((subject for subject, modules in _SUBJECTS.items() if module in modules), _OTHER)


def _order(subjects: Collection[str]) -> list[str]:
    return [subject for subject in (*_SUBJECTS, _OTHER) if subject in subjects]


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
    """The types by subject; a union of types is with the first of them."""
    own = (model for model in _models(BaseModel) if model.__module__.startswith(_PACKAGES))
    models = {model.__name__: model for model in own}
    subjects: dict[str, list[str]] = {}
    for name, definition in document["$defs"].items():
        if _described_as(name) == name:
            first = name if name in models else name_of(definition["oneOf"][0])
            subjects.setdefault(_subject(models[first]), []).append(_type(name, definition))
    return "\n\n".join(
        "\n\n".join([f"### Types: {subject.lower()}", *subjects[subject]]) for subject in _order(subjects)
    )


def _models(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for model in base.__subclasses__():
        yield model
        yield from _models(model)


def _type(name: str, definition: Schema) -> str:
    parts = [f"#### {name}", definition.get("description", "")]
    if "oneOf" in definition:
        parts.append("One of " + ", ".join(_link(member) for member in definition["oneOf"]) + ".")
    elif definition.get("properties"):
        required = definition.get("required", ())
        rows = [
            [f"`{key}`", f"`{_cell(type_of(value))}`", _terms(value, is_required=key in required)]
            for key, value in definition["properties"].items()
        ]
        parts.append(_table(["property", "type", ""], rows))
    else:
        parts.append("No properties.")
    return "\n\n".join(part for part in parts if part)


def _terms(schema: Schema, *, is_required: bool) -> str:
    """Whether a property may be left out, its default and its limits."""
    own = [schema, *(each for each in schema.get("anyOf", ()) if each.get("type") != "null")]
    stated = {key: value for each in reversed(own) for key, value in each.items() if key in _LIMITS}
    shown = {key: json.dumps(value) for key, value in stated.items() if value is not None}
    terms = [text.format(shown[key]) for key, text in _LIMITS.items() if key in shown]
    return ", ".join(["" if is_required else "optional", *terms]).removeprefix(", ")


def _errors() -> str:
    rows = [[f"`{code}`", meaning] for code, meaning in error_codes().items()]
    return _table(["`data.code`", "when"], rows)


def _commands() -> str:
    rows = [[f"`{command}`", f"`{method.name}`"] for command, method in COMMANDS.items()]
    return _table(["command", "the same as"], rows)


def _settings() -> str:
    rows = [[f"`{name}`", _default(value)] for name, value in _defaults(Settings())]
    return _table(["setting", "default"], rows)


def _defaults(settings: BaseModel, prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, field in type(settings).model_fields.items():
        value, path = getattr(settings, name), f"{prefix}{field.alias or name}"
        if isinstance(value, BaseModel):
            yield from _defaults(value, f"{path}.")
        else:
            yield path, value


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
