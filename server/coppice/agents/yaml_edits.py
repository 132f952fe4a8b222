"""Changes of a YAML configuration file that leave every other line as it is.

The text is edited, and read before and after: where the change would be anything but ours, it is refused.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import override

from coppice.agents.edits import Edit, other_type
from coppice.agents.jsonc import ConfigurationError
from coppice.agents.yaml_data import NOTHING, data_of, value_at, without
from coppice.agents.yaml_text import Entry, entries_in, entry_at, lines_of

_NO_ITEMS: Final[tuple[Any, ...]] = (NOTHING, None, [])
_EMPTY: Final = ("", "{}", "[]", "null", "~")


@dataclass(frozen=True, kw_only=True)
class YamlMember(Edit):
    """`value` under `keys`, on one line: JSON is YAML. It takes the place of what is there."""

    keys: tuple[str, ...]
    value: Any

    @override
    def applied(self, text: str | None) -> str:
        text = text or ""
        # Hermes writes the file in its own layout now and then.
        current = value_at(data_of(text), self.keys)
        if current == self.value:
            return text
        if isinstance(self.value, dict) and not (current is NOTHING or isinstance(current, dict)):
            raise other_type(self.keys)
        lines = lines_of(text if not text or text.endswith("\n") else f"{text}\n")
        entry, depth = entry_at(lines, self.keys)
        if entry is None or depth < len(self.keys):
            after = _with_entry(lines, entry, self.keys[depth:], _json(self.value))
        else:
            after = _with_line(lines, entry, self.keys[-1], _json(self.value))
        return _checked(text, after, self.keys, self.value)

    @override
    def is_taken(self, text: str) -> bool:
        current = value_at(data_of(text), self.keys)
        return isinstance(current, dict) and current != self.value

    @override
    def removed(self, text: str, before: str | None) -> str:
        current = value_at(data_of(text), self.keys)
        if current is NOTHING or not (
            current == self.value or (isinstance(current, dict) and isinstance(self.value, dict))
        ):
            return text
        return _checked(text, self._without(text, before), self.keys)

    def _without(self, text: str, before: str | None) -> str:
        lines = lines_of(text)
        entry, depth = entry_at(lines, self.keys)
        if entry is None or depth < len(self.keys):
            raise _unknown_layout(self.keys)
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
        text = text or ""
        listed = self._listed(text)
        if self.item in listed:
            return text
        lines = lines_of(text if not text or text.endswith("\n") else f"{text}\n")
        return _checked(text, self._with(lines), self.keys, [*listed, self.item])

    @override
    def removed(self, text: str, before: str | None) -> str:
        listed = self._listed(text)
        if self.item not in listed:
            return text
        rest = [each for each in listed if each != self.item]
        allowed = (rest,) if rest else _NO_ITEMS
        return _checked(text, self._without(lines_of(text), before), self.keys, *allowed)

    def _listed(self, text: str) -> list[Any]:
        listed = value_at(data_of(text), self.keys)
        return listed if isinstance(listed, list) else []

    def _with(self, lines: list[str]) -> str:
        entry, depth = entry_at(lines, self.keys)
        if entry is None or depth < len(self.keys):
            return _with_entry(lines, entry, self.keys[depth:], f"[{self.item}]")
        if entry.inline in _EMPTY and entry.end == entry.first + 1:
            return _with_line(lines, entry, self.keys[-1], f"[{self.item}]")
        if entry.inline.startswith("[") and entry.inline.endswith("]"):
            return _with_line(lines, entry, self.keys[-1], f"[{', '.join([*_words(entry), self.item])}]")
        first = next(filter(_is_item, lines[entry.first + 1 : entry.end]), None)
        if entry.inline or first is None:
            raise _unknown_layout(self.keys)
        added = f"{first[: len(first) - len(first.lstrip())]}- {self.item}{_ending(lines)}"
        return "".join([*lines[: entry.end], added, *lines[entry.end :]])

    def _without(self, lines: list[str], before: str | None) -> str:
        entry, depth = entry_at(lines, self.keys)
        if entry is None or depth < len(self.keys):
            raise _unknown_layout(self.keys)
        place = self._place(lines, entry)
        if place is not None:
            return "".join([*lines[:place], *lines[place + 1 :]])
        rest = [word for word in _words(entry) if word.strip("\"'") != self.item]
        _, reached = entry_at(lines_of(before or ""), self.keys)
        if not rest and reached < len(self.keys):
            return _without_entry(lines, self.keys, keep=reached)
        return _with_line(lines, entry, self.keys[-1], f"[{', '.join(rest)}]")

    def _place(self, lines: list[str], entry: Entry) -> int | None:
        pattern = re.compile(rf"""- ["']?{re.escape(self.item)}["']?(?:\s+#.*)?""")
        return next(
            (n for n in range(entry.first + 1, entry.end) if pattern.fullmatch(lines[n].strip())), None
        )


def _checked(text: str, after: str, keys: tuple[str, ...], *values: Any) -> str:
    """`after`, a change of `text` under `keys` alone, where one of `values` is then, if any are given.

    Raises ConfigurationError where it is anything else.
    """
    try:
        made = data_of(after)
    except ConfigurationError:
        raise _unknown_layout(keys) from None
    if without(made, keys) != without(data_of(text), keys):
        raise _unknown_layout(keys)
    if values and value_at(made, keys) not in values:
        raise _unknown_layout(keys)
    return after


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
        f"The file, or the value of {keys[0]} in it, is written in a way that is not edited. "
        f"Change {'.'.join(keys)} by hand."
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
    return value if isinstance(value, str) else json.dumps(value)
