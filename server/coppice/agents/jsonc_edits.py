"""Edits of JSON with comments, or JSON5, that leave everything else as it is: text in, text out.

Comments, order, indentation and a trailing comma stay. The text is read before and after: where anything but
ours would change, the edit is refused. What is inside a value of ours, comments too, is ours.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from coppice.agents.jsonc import (
    COMMENT,
    ConfigurationError,
    Slot,
    Value,
    data_of,
    gap,
    parsed,
    string_of,
    way,
)

_REST_OF_LINE: Final = re.compile(r"[ \t]*+(?://[^\r\n]*+|/\*(?:[^*\n]|\*(?!/))*+\*/)?+[ \t]*+(?=\r?\n)")
_LINE_END: Final = re.compile(r"[ \t]*+(?:\r\n?|\n)")
_COMMENT_OR_COMMA: Final = re.compile(rf"{COMMENT.pattern}|,")


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with `value` under `path`, in place of what is there. Objects on the way are made."""
    here = _Text(text, path)
    slots = here.slots
    around = slots[-1].value if slots else here.root
    if here.is_whole:
        written = _dumped(text, value, _indent_at(text, slots[-1].start))
        after = text[: around.start] + written + text[around.end :]
    elif around.kind != "{":
        raise ConfigurationError(f"{'.'.join(path[: len(slots)])} is not an object.")
    else:
        key, *inner = path[len(slots) :]
        made = value
        for name in reversed(inner):
            made = {name: made}
        after = _inserted(text, around, f"{json.dumps(key)}: ", made)
    by_hand = f"Set {'.'.join(path)} to {json.dumps(value)}"
    return _checked(here.others(_member(here)), _Made(after, path, _member, [value]), by_hand)


def with_item(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with `value` as the last item of the array under `path`, which is made if need be."""
    here = _Text(text, path)
    if not here.is_whole:
        return with_member(text, path, [value])
    array = here.slots[-1].value
    if array.kind != "[":
        raise ConfigurationError(f"{'.'.join(path)} is not a list.")
    made = _Made(_inserted(text, array, "", value), path, _last_item, [value])
    return _checked(here.others([]), made, f"Add {json.dumps(value)} to {'.'.join(path)}")


def without_member(text: str, path: Sequence[str], *, keep: int) -> str:
    """`text` without what is under `path`; objects that are empty then go too, but the first `keep`."""
    here = _Text(text, path)
    if not here.is_whole:
        return text
    around = here.slots[-2].value if len(path) > 1 else here.root
    after = _without_empty(_removed(text, around, _member(here)), path[:-1], keep)
    made = _Made(after, path, _member, [])
    return _checked(here.others(_member(here)), made, f"Take {'.'.join(path)} out")


def without_items(text: str, path: Sequence[str], ours: re.Pattern[str], *, keep: int = 0) -> str:
    """`text` without the strings of the array under `path` that are `ours`, and the hooks there whose command
    is; a group of hooks goes with the last of them. `keep` as above.
    """
    here = _Text(text, path)
    array = here.slots[-1].value if here.is_whole else here.root
    gone = _items(here, ours)
    if not gone:
        return text
    starts = {slot.start for slot in gone}
    if all(slot.start in starts for slot in array.slots):
        after = _without_empty(_removed(text, array, gone), path, keep)
    else:
        hooks = [hooks.value for item in array.slots if (hooks := item.value.member("hooks"))]
        after = _without(text, [cut for each in (array, *hooks) for cut in _cuts(text, each, gone)])
    made = _Made(after, path, partial(_items, ours=ours), [])
    return _checked(here.others(gone), made, f"Take what Coppice added out of {'.'.join(path)}")


@dataclass(frozen=True)
class _Made:
    """A text after an edit under `path`, in which `ours` finds what shall then have the `values`."""

    text: str
    path: Sequence[str]
    ours: Callable[["_Text"], Sequence[Slot]]
    values: Sequence[Any]


def _checked(others: Sequence[str], made: _Made, by_hand: str) -> str:
    """The text that was made. Raises ConfigurationError where it has not exactly `others` and the values."""
    with suppress(ConfigurationError):
        after = _Text(made.text, made.path)
        ours = made.ours(after)
        values = [data_of(made.text, slot.value) for slot in ours]
        if values == made.values and after.others(ours) == others:
            return made.text
    raise ConfigurationError(f"The file is written in a way that Coppice does not edit. {by_hand} by hand.")


def _member(here: "_Text") -> Sequence[Slot]:
    return here.slots[-1:] if here.is_whole else []


def _last_item(here: "_Text") -> Sequence[Slot]:
    return here.slots[-1].value.slots[-1:] if here.is_whole else []


def _items(here: "_Text", ours: re.Pattern[str]) -> Sequence[Slot]:
    """The items, and the hooks in those that have other hooks too, that are `ours`."""
    if not here.is_whole or here.slots[-1].value.kind != "[":
        return []
    gone: list[Slot] = []
    for item in here.slots[-1].value.slots:
        hooks = item.value.member("hooks")
        inside = [item] if hooks is None else hooks.value.slots
        of_us = [each for each in inside if _is_ours(here.text, each.value, ours)]
        gone += [item] if of_us and len(of_us) == len(inside) else of_us
    return gone


def _is_ours(text: str, value: Value, ours: re.Pattern[str]) -> bool:
    command = value.member("command")
    string = string_of(text, value if command is None else command.value)
    return string is not None and ours.fullmatch(string) is not None


class _Text:
    """A text with its places. `slots` are the members to which `path` leads, as far as there are any."""

    def __init__(self, text: str, path: Sequence[str]) -> None:
        self.text = text
        self.root = parsed(text, path)
        self.slots = way(self.root, path)
        self.is_whole = len(self.slots) == len(path)

    def others(self, ours: Iterable[Slot]) -> list[str]:
        """What stays when `ours` come or go, in its order: everything but the objects on the way to them."""
        gone = {slot.start for slot in ours}
        return [
            *_comments(self.text, 0, self.root.start),
            *self._within(self.root, gone, {slot.start for slot in self.slots}),
            *_comments(self.text, self.root.end, len(self.text)),
        ]

    def _within(self, container: Value, gone: Collection[int], on_way: Collection[int]) -> Iterator[str]:
        at = container.start + 1
        for slot in container.slots:
            yield from _comments(self.text, at, slot.start)
            value = slot.value
            at = value.end
            if slot.start in gone:
                continue
            if slot.start not in on_way:
                yield self.text[slot.start : slot.after_key]
            yield from _comments(self.text, slot.after_key, value.start)
            if slot.start in on_way and value.kind:
                yield from self._within(value, gone, on_way)
            elif value.slots:
                yield value.kind
                yield from self._within(value, gone, on_way)
                yield self.text[value.end - 1]
            else:
                yield self.text[value.start : value.end]
        yield from _comments(self.text, at, container.end - 1)


def _comments(text: str, start: int, end: int) -> list[str]:
    """The comments between two values or the like."""
    return COMMENT.findall(text, start, end)


def _inserted(text: str, container: Value, lead: str, value: Any) -> str:
    end_of_line = _end_of_line(text)
    if not container.slots:
        outer = _indent_at(text, container.start)
        indent = outer + _unit(text)
        comments = [match.end() for match in COMMENT.finditer(text, container.start + 1, container.end - 1)]
        at = comments[-1] if comments else container.start + 1
        rest = text[at : container.end - 1]
        if not comments or "\n" not in rest:
            rest = end_of_line + outer
        written = f"{end_of_line}{indent}{lead}{_dumped(text, value, indent)}"
        return text[:at] + written + rest + text[container.end - 1 :]
    last = container.slots[-1]
    line = text.rfind("\n", container.start, last.start) + 1
    after = gap(text, last.value.end)
    comma = text[after : after + 1] == ","
    at = after + 1 if comma else last.value.end
    if line and gap(text, line) == last.start:
        # A comment at the end of the line is about the member before.
        rest_of_line = _REST_OF_LINE.match(text, at)
        end = rest_of_line.end() if rest_of_line else at
        indent = _indent_at(text, last.start)
        written = f"{end_of_line}{indent}{lead}{_dumped(text, value, indent)}"
        written += "," if comma else ""
        return text[:at] + ("" if comma else ",") + text[at:end] + written + text[end:]
    written = f" {lead}{json.dumps(value, ensure_ascii=False)}"
    return text[:at] + ("" if comma else ",") + written + ("," if comma else "") + text[at:]


def _removed(text: str, container: Value, slots: Sequence[Slot]) -> str:
    """`text` without some slots of a container; one that has nothing else then is written without a blank."""
    inside = _without(text[: container.end - 1], _cuts(text, container, slots))[container.start + 1 :]
    return text[: container.start + 1] + (inside if inside.strip() else "") + text[container.end - 1 :]


def _cuts(text: str, container: Value, slots: Sequence[Slot]) -> list[tuple[int, int]]:
    """Where some slots of a container are, with their commas, and the blanks before them."""
    gone = {slot.start for slot in slots}
    cuts: list[tuple[int, int]] = []
    previous_end = container.start + 1
    last_left: Slot | None = None
    for slot in container.slots:
        if slot.start in gone:
            end = slot.value.end
            after = gap(text, end)
            if text[after : after + 1] != ",":
                if last_left is not None:
                    comma = gap(text, last_left.value.end)
                    cuts.append((comma, comma + 1))
            elif _comments(text, end, after):
                cuts.append((after, after + 1))
            else:
                end = after + 1
            cuts.append(_with_blanks(text, previous_end, slot.start, end))
        else:
            last_left = slot
        previous_end = slot.value.end
    return cuts


def _with_blanks(text: str, previous_end: int, start: int, end: int) -> tuple[int, int]:
    """A cut with the blanks before it, but for the line end of a comment: there, the one after it goes."""
    before, at = "", previous_end
    for match in _COMMENT_OR_COMMA.finditer(text, previous_end, start):
        before, at = match[0], match.end()
    if not before.startswith("//"):
        return at, end
    ended, rest = _LINE_END.match(text, at), _LINE_END.match(text, end)
    return ended.end() if ended else at, rest.end() if rest else end


def _without(text: str, cuts: Iterable[tuple[int, int]]) -> str:
    """`text` without the parts between such places, which may overlap."""
    parts, at = [], 0
    for start, end in sorted(cuts):
        parts.append(text[at:start])
        at = max(at, end)
    return "".join([*parts, text[at:]])


def _without_empty(text: str, path: Sequence[str], keep: int) -> str:
    """Removes the container under `path` and those around it, from the inside, while they are empty."""
    for length in range(len(path), keep, -1):
        here = _Text(text, path[:length])
        if not here.is_whole or here.others(_member(here)) != here.others([]):
            return text
        around = here.slots[-2].value if length > 1 else here.root
        text = _removed(text, around, _member(here))
    return text


def _dumped(text: str, value: Any, indent: str) -> str:
    written = json.dumps(value, indent=2, ensure_ascii=False)
    return written.replace("\n", f"{_end_of_line(text)}{indent}")


def _end_of_line(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))].removeprefix("\ufeff")


def _unit(text: str) -> str:
    """One level of indentation, as the first member of the file has it."""
    match = re.match(r"\ufeff?\s*+\{[ \t]*\r?\n([ \t]+)\S", text)
    return match[1] if match else "  "
