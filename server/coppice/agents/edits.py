"""What is changed in the text of a configuration file, so that it can be taken back."""

import re
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from typing_extensions import override

from coppice.agents import jsonc, jsonc_edits
from coppice.agents.jsonc import ConfigurationError, Value
from coppice.settings.files import parsed_toml

_BEGIN: Final = "Added by `coppice connect`; `coppice connect --remove` takes it out."
_END: Final = "End of what `coppice connect` added."
_SECTION: Final = re.compile(
    rf"^<!-- {re.escape(_BEGIN)} -->\n(?:(?!<!-- {re.escape(_BEGIN)}).*\n)*?<!-- {re.escape(_END)} -->"
    r"(?:\n|\Z)",
    re.MULTILINE,
)
_TOML_TOKEN: Final = re.compile(
    r"#[^\n]*+"
    r'|"""(?:[^"\\]|\\(?s:.)|"{1,2}(?!"))*+(?:"{3,5}|\Z)'
    r"|'''(?:[^']|'{1,2}(?!'))*+(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*+"?'
    r"|'[^'\n]*+'?"
)
"""A comment or a string of TOML. Where its end is missing, it ends with its line, or with the text."""
_TOML_HEADER: Final = re.compile(
    r"(?P<above>(?:^[ \t]*+(?:#[^\n]*+)?\n)++)"
    r"""|(?P<header>^[ \t]*+\[{1,2}(?:[^\n\[\]"'#]|"(?:[^"\\\n]|\\[^\n])*+"|'[^'\n]*+')++\]{1,2})"""
    rf"|{_TOML_TOKEN.pattern}",
    re.MULTILINE,
)
"""Lines that are blank or comments, the header of a table, or a token."""


@dataclass(frozen=True, kw_only=True)
class Edit(ABC):
    """A change of `path`, a file of the user's; `what` says it to a person."""

    path: Path
    what: str

    @abstractmethod
    def applied(self, text: str | None) -> str:
        """`text`, None for no file, with the change. Raises ConfigurationError where that cannot be."""

    @abstractmethod
    def removed(self, text: str, before: str | None) -> str:
        """`text` without the change; `before` is the file before it, as far as that is known."""

    def is_taken(self, text: str) -> bool:  # noqa: ARG002 - most changes are marked as ours, or add to a list
        """Whether in `text`, of which no connecting is recorded, the place has something that is not ours."""
        return False

    def is_in(self, text: str | None) -> bool:
        """Whether `text` has the change."""
        with suppress(ConfigurationError):
            return text is not None and self.applied(text) == text
        return False


@dataclass(frozen=True, kw_only=True)
class Member(Edit):
    """`value` under `keys` of a JSON file."""

    keys: tuple[str, ...]
    value: Any

    @override
    def applied(self, text: str | None) -> str:
        if text is not None and _value_at(text, self.keys) == self.value:
            return text
        place = None if text is None else _place_at(text, self.keys)
        if place is not None and isinstance(self.value, dict) and place.kind != "{":
            raise other_type(self.keys)
        return jsonc_edits.with_member(text or "{}\n", self.keys, self.value)

    @override
    def is_taken(self, text: str) -> bool:
        place = _place_at(text, self.keys)
        return place is not None and place.kind == "{" and _value_at(text, self.keys) != self.value

    @override
    def removed(self, text: str, before: str | None) -> str:
        place = _place_at(text, self.keys)
        if place is None:
            return text
        is_ours = (
            place.kind == "{" if isinstance(self.value, dict) else _value_at(text, self.keys) == self.value
        )
        if not is_ours:
            return text
        earlier = _place_at(before or "", self.keys)
        if before is not None and earlier is not None:
            # One whole value in place of another: what is around it stays, and need not be read again.
            return text[: place.start] + before[earlier.start : earlier.end] + text[place.end :]
        return jsonc_edits.without_member(text, self.keys, keep=_depth(before, self.keys[:-1]))


@dataclass(frozen=True, kw_only=True)
class Items(Edit):
    """`items` in the list under `keys` of a JSON file: strings, or groups of hooks.

    `ours` matches the strings, and the commands of the hooks, of this version and others.
    """

    keys: tuple[str, ...]
    items: tuple[Any, ...]
    ours: re.Pattern[str]

    @override
    def applied(self, text: str | None) -> str:
        text = text or "{}\n"
        listed = _value_at(text, self.keys)
        present = listed if isinstance(listed, list) else []
        for item in self.items:
            if item not in present:
                text = jsonc_edits.with_item(text, self.keys, item)
        return text

    @override
    def removed(self, text: str, before: str | None) -> str:
        return jsonc_edits.without_items(text, self.keys, self.ours, keep=_depth(before, self.keys))


@dataclass(frozen=True, kw_only=True)
class Block(Edit):
    """Tables at the end of a TOML file, between two comments. `name` is a table that they make.

    A program that adds a table at the end of the file may put it before the comment that ends ours.
    """

    tables: str
    name: tuple[str, ...]

    @override
    def applied(self, text: str | None) -> str:
        text = "" if text is None else text
        block = f"# {_BEGIN}\n{self.tables}# {_END}\n"
        place = _block_at(text)
        if place is not None and text[place[0] : place[1]] == block:
            return text
        rest = self.removed(text, None)
        if _has_table(rest, self.name):
            raise ConfigurationError(
                f"There is a table [{'.'.join(self.name)}] already. Take it out, then connect again."
            )
        after = _with_section(rest, block)
        try:
            parsed_toml(after)
        except ValueError as error:
            raise ConfigurationError(f"The file would be no valid TOML ({error}).") from error
        return after

    @override
    def removed(self, text: str, before: str | None) -> str:
        place = _block_at(text)
        if place is None:
            return text
        start, end = place
        theirs = self._of_others(text[start:end])
        return _without_section(text[:end] + theirs + text[end:], start, end, before)

    def _of_others(self, block: str) -> str:
        """The tables in `block` that are not ours: of each header of ours the first is."""
        ours = set(_headers(self.tables).values())
        headers = _headers(block)
        parts = []
        for start, end in pairwise([*headers, block.rindex("#")]):
            name = headers[start]
            if name in ours:
                ours.remove(name)
            elif name[: len(self.name)] != self.name:
                parts.append(block[start:end])
        return "".join(parts)


@dataclass(frozen=True, kw_only=True)
class Section(Edit):
    """`lines` for an agent to read at the end of a Markdown file, between two comments."""

    lines: str

    @override
    def applied(self, text: str | None) -> str:
        section = f"<!-- {_BEGIN} -->\n{self.lines}<!-- {_END} -->\n"
        place = _SECTION.search(text or "")
        if place is not None and place[0] == section:
            return text or ""
        return _with_section(self.removed(text or "", None), section)

    @override
    def removed(self, text: str, before: str | None) -> str:
        place = _SECTION.search(text)
        return text if place is None else _without_section(text, *place.span(), before)

    @staticmethod
    def is_there(text: str | None) -> bool:
        """Whether the text has such lines, of this version or another."""
        return _SECTION.search(text or "") is not None


@dataclass(frozen=True, kw_only=True)
class OwnFile(Edit):
    """A file that is ours alone."""

    content: str = field(repr=False)

    @override
    def applied(self, text: str | None) -> str:
        return self.content

    @override
    def is_taken(self, text: str) -> bool:
        return text != self.content

    @override
    def removed(self, text: str, before: str | None) -> str:
        return before or ""


def _with_section(rest: str, section: str) -> str:
    gap = "" if not rest or rest.endswith("\n\n") else "\n" if rest.endswith("\n") else "\n\n"
    return rest + gap + section


def _without_section(text: str, start: int, end: int, before: str | None) -> str:
    if before is not None and text[:start].rstrip("\n") == before.rstrip("\n"):
        gap = "\n" if before and not before.endswith("\n") and text[end:] else ""
        return before + gap + text[end:]
    return text[:start].removesuffix("\n") + text[end:]


def other_type(keys: tuple[str, ...]) -> ConfigurationError:
    """What is raised where something that is no object, and nothing of ours, is in the way."""
    return ConfigurationError(
        f"There is a {'.'.join(keys)} of another type. Take it out, then connect again."
    )


_NOTHING: Final = object()


def _place_at(text: str, keys: tuple[str, ...]) -> Value | None:
    """The place of the value under `keys`; None where there is none or the text cannot be read."""
    places = _places(text, keys)
    return places[-1] if len(places) > len(keys) else None


def _depth(text: str | None, keys: tuple[str, ...]) -> int:
    """How many of `keys` lead to something in `text`."""
    return max(0, len(_places(text or "", keys)) - 1)


def _places(text: str, keys: tuple[str, ...]) -> list[Value]:
    """The whole value of `text`, and those to which `keys` lead from there; none where it cannot be read."""
    with suppress(ConfigurationError):
        root = jsonc.parsed(text, keys)
        return [root, *(slot.value for slot in jsonc.way(root, keys))]
    return []


def _value_at(text: str, keys: tuple[str, ...]) -> Any:
    """The value under `keys`; `_NOTHING` where there is none or the text cannot be read."""
    place = _place_at(text, keys)
    return _NOTHING if place is None else jsonc.data_of(text, place)


def _block_at(text: str) -> tuple[int, int] | None:
    """Where our tables with their two comments begin and end in a TOML text.

    A string may hold the same lines.
    """
    start = None
    for token in _TOML_TOKEN.finditer(text):
        if token[0] == f"# {_BEGIN}":
            start = token.start()
        elif token[0] == f"# {_END}" and start is not None:
            return start, min(token.end() + 1, len(text))
    return None


def _headers(text: str) -> dict[int, tuple[str, ...]]:
    """The names of the tables, by where they begin: with the comments above their headers."""
    names = {}
    start = end = 0
    for token in _TOML_HEADER.finditer(text):
        if token["header"]:
            names[start if end == token.start() else token.start()] = _table_name(token["header"])
        elif token["above"]:
            start, end = token.span()
    return names


def _table_name(header: str) -> tuple[str, ...]:
    """The keys in the header of a table; none where it is none."""
    keys: list[str] = []
    with suppress(ValueError):
        here: Any = parsed_toml(header)
        while isinstance(here, dict) and here:
            ((key, here),) = here.items()
            keys.append(key)
    return tuple(keys)


def _has_table(text: str, name: tuple[str, ...]) -> bool:
    try:
        here: Any = parsed_toml(text)
    except ValueError as error:
        raise ConfigurationError(f"The file is no valid TOML ({error}).") from error
    for key in name:
        here = here.get(key) if isinstance(here, dict) else None
    return here is not None
