"""Changes of a YAML configuration file that leave every other line as it is."""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import override

from coppice.agents.edits import Edit
from coppice.agents.jsonc import ConfigurationError
from coppice.agents.yaml_text import Entry, entries_in, entry_at, lines_of

_EMPTY: Final = ("", "{}", "[]", "null", "~")
_SEVERAL: Final = re.compile(r"^(?:---|\.\.\.)(?:\s|$)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class YamlMember(Edit):
    """`value` under `keys`, on one line: JSON is YAML. It takes the place of what is there."""

    keys: tuple[str, ...]
    value: Any

    @override
    def applied(self, text: str | None) -> str:
        lines = _checked(text)
        entry, depth = entry_at(lines, self.keys)
        if depth < len(self.keys):
            return _with_entry(lines, entry, self.keys[depth:], _json(self.value))
        assert entry is not None  # noqa: S101 - all keys lead to it
        shown = "".join(lines[entry.first : entry.end])
        # Hermes writes the file in its own layout now and then.
        if all(_is_shown(each, shown) for each in _scalars(self.value)):
            return "".join(lines)
        return _with_line(lines, entry, self.keys[-1], _json(self.value))

    @override
    def removed(self, text: str, before: str | None) -> str:
        entry, depth = entry_at(lines_of(text), self.keys)
        if entry is None or depth < len(self.keys):
            return text
        lines = lines_of(text)
        earlier = lines_of(before or "")
        old, reached = entry_at(earlier, self.keys)
        if old is not None and reached == len(self.keys):
            return "".join([*lines[: entry.first], *earlier[old.first : old.end], *lines[entry.end :]])
        return _without_entry(lines, self.keys, keep=reached)


@dataclass(frozen=True, kw_only=True)
class YamlItem(Edit):
    """The word `item` in the list under `keys`."""

    keys: tuple[str, ...]
    item: str

    @override
    def applied(self, text: str | None) -> str:
        lines = _checked(text)
        entry, depth = entry_at(lines, self.keys)
        if entry is None or depth < len(self.keys):
            return _with_entry(lines, entry, self.keys[depth:], f"[{self.item}]")
        if self._place(lines, entry) is not None or self.item in _words(entry):
            return "".join(lines)
        if entry.inline in _EMPTY and entry.end == entry.first + 1:
            return _with_line(lines, entry, self.keys[-1], f"[{self.item}]")
        if entry.inline.startswith("[") and entry.inline.endswith("]"):
            listed = [*_words(entry), self.item]
            return _with_line(lines, entry, self.keys[-1], f"[{', '.join(listed)}]")
        first = next(filter(_is_item, lines[entry.first + 1 : entry.end]), None)
        if entry.inline or first is None:
            raise _unknown_layout(self.keys)
        added = f"{first[: len(first) - len(first.lstrip())]}- {self.item}{_ending(lines)}"
        return "".join([*lines[: entry.end], added, *lines[entry.end :]])

    @override
    def removed(self, text: str, before: str | None) -> str:
        lines = lines_of(text)
        entry, depth = entry_at(lines, self.keys)
        if entry is None or depth < len(self.keys):
            return text
        place = self._place(lines, entry)
        if place is not None:
            return "".join([*lines[:place], *lines[place + 1 :]])
        rest = [word for word in _words(entry) if word != self.item]
        _, reached = entry_at(lines_of(before or ""), self.keys)
        if not rest and reached < len(self.keys):
            return _without_entry(lines, self.keys, keep=reached)
        return (
            _with_line(lines, entry, self.keys[-1], f"[{', '.join(rest)}]")
            if self.item in _words(entry)
            else text
        )

    def _place(self, lines: list[str], entry: Entry) -> int | None:
        pattern = re.compile(rf"""- ["']?{re.escape(self.item)}["']?(?:\s+#.*)?""")
        return next(
            (n for n in range(entry.first + 1, entry.end) if pattern.fullmatch(lines[n].strip())), None
        )


def _checked(text: str | None) -> list[str]:
    text = text or ""
    if len(_SEVERAL.findall(text)) > text.startswith("---"):
        raise ConfigurationError("The file has several documents. Add the entries by hand.")
    return lines_of(text if not text or text.endswith("\n") else f"{text}\n")


def _with_entry(lines: list[str], parent: Entry | None, keys: tuple[str, ...], value: str) -> str:
    """The file with an entry for the first of `keys`, in which the others lead to `value`."""
    inside = [] if parent is None else lines[parent.first + 1 : parent.end]
    if parent is not None and (parent.inline not in _EMPTY or any(map(_is_item, inside[:1]))):
        raise _unknown_layout(keys)
    inner = entries_in(lines, parent)
    indent = 0 if parent is None else parent.indent + 2
    if parent is not None and inner:
        indent = next(iter(inner.values())).indent
    made = [f"{' ' * (indent + 2 * depth)}{key}:" for depth, key in enumerate(keys)]
    made[-1] += f" {value}"
    added = [f"{line}{_ending(lines)}" for line in made]
    if parent is None:
        return "".join([*lines, *added])
    head = lines[parent.first]
    if parent.inline:
        head = head[: head.index(":") + 1] + _ending(lines)
    return "".join([*lines[: parent.first], head, *added, *lines[parent.first + 1 :]])


def _with_line(lines: list[str], entry: Entry, key: str, value: str) -> str:
    made = f"{' ' * entry.indent}{key}: {value}{_ending(lines)}"
    return "".join([*lines[: entry.first], made, *lines[entry.end :]])


def _without_entry(lines: list[str], keys: tuple[str, ...], keep: int) -> str:
    """Without the entry, and those around it that have nothing else and are not among the first `keep`."""
    entry, _ = entry_at(lines, keys)
    while len(keys) > 1:
        around, _ = entry_at(lines, keys[:-1])
        if around is None or len(entries_in(lines, around)) > 1:
            break
        if len(keys) - 1 <= keep:
            return _with_line(lines, around, keys[-2], "{}")
        entry, keys = around, keys[:-1]
    assert entry is not None  # noqa: S101 - who asks has seen it
    return "".join([*lines[: entry.first], *lines[entry.end :]])


def _unknown_layout(keys: tuple[str, ...]) -> ConfigurationError:
    return ConfigurationError(
        f"The value of {keys[0]} is written in a way that is not edited. Change it by hand."
    )


def _is_item(line: str) -> bool:
    return line.lstrip().startswith("- ")


def _ending(lines: list[str]) -> str:
    return "\r\n" if lines and lines[0].endswith("\r\n") else "\n"


def _words(entry: Entry) -> list[str]:
    """The items of a list on one line."""
    if not (entry.inline.startswith("[") and entry.inline.endswith("]")):
        return []
    return [word.strip() for word in entry.inline[1:-1].split(",") if word.strip()]


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _scalars(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for key, each in value.items() for text in (str(key), *_scalars(each))]
    if isinstance(value, list):
        return [text for each in value for text in _scalars(each)]
    return [str(value)]


def _is_shown(text: str, shown: str) -> bool:
    return re.search(rf"""(?:^|[\s:\["',-]){re.escape(text)}(?:$|[\s:\]"',}}])""", shown) is not None
