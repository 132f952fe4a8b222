"""Edits of JSON with comments, or JSON5, that leave everything else as it is: text in, text out.

Comments, order, indentation and a trailing comma stay. What is no JSON object is refused.
"""

import json
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from coppice.errors import CoppiceError

MAX_DEPTH: Final = 100
"""Of nested values in a configuration file; deeper ones are refused, not followed: each
takes frames of Python's stack, which has 1,000."""

MAX_VALUES: Final = 100_000
"""Of those that are looked into: a third of a second, and connecting an agent reads a file several times."""

MAX_FAILURES: Final = 20
"""To read a member as JSON, which may hold a comment or the like: each failure counts the lines of the text
before it. The members that follow are looked into."""

_GAP: Final = re.compile(r"(?:[ \t\r\n]++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\(?s:.))*+"|\'(?:[^\'\\\n]|\\(?s:.))*+\'')
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*+")
_SCALAR: Final = re.compile(r"[^\s,\]}/]++")
_REST_OF_LINE: Final = re.compile(r"[ \t]*+(?://[^\n]*+|/\*(?:[^*\n]|\*(?!/))*+\*/)?+[ \t]*+(?=\r?\n)")


class ConfigurationError(CoppiceError):
    """A configuration file cannot be edited."""

    code = "agent-configuration"


@dataclass(slots=True)
class Slot:
    """A member of an object, or an item of an array with an empty `key`; `start` is where its text begins."""

    key: str
    start: int
    value: "Value"


@dataclass(slots=True)
class Value:
    """A value between `start` and `end` of the text; `kind` is `{`, `[` or empty."""

    kind: str
    start: int
    end: int
    slots: list[Slot] = field(default_factory=list)

    def member(self, key: str) -> Slot | None:
        """The last member of this name, the one that counts."""
        return next((slot for slot in reversed(self.slots) if slot.key == key), None)


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with `value` under `path`, in place of what is there. Objects on the way are made."""
    *parents, key = path
    root = parsed(text, path)
    here, missing = _follow(root, parents)
    for name in reversed(missing):  # the outermost of the missing objects is the member to be made
        key, value = name, {key: value}
    member = here.member(key)
    if member is not None:
        indent = _indent_at(text, member.start)
        return text[: member.value.start] + _dumped(value, indent) + text[member.value.end :]
    return _inserted(text, here, f"{json.dumps(key)}: ", value)


def with_item(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with `value` as the last item of the array under `path`, which is made if need be."""
    _, slot = _slot(text, path)
    if slot is None:
        return with_member(text, path, [value])
    if slot.value.kind != "[":
        raise ConfigurationError(f"{'.'.join(path)} is not a list.")
    return _inserted(text, slot.value, "", value)


def without_member(text: str, path: Sequence[str], *, keep: int) -> str:
    """`text` without what is under `path`; objects that are empty then go too, but the first `keep`."""
    here, slot = _slot(text, path)
    if slot is None:
        return text
    text = _removed(text, here, [slot])
    return _without_empty(text, path[:-1], keep)


def without_items(text: str, path: Sequence[str], ours: re.Pattern[str], *, keep: int = 0) -> str:
    """`text` without the strings of the array under `path` that are `ours`, and the hooks there whose command
    is; a group of hooks goes with the last of them. `keep` as above.
    """
    _, slot = _slot(text, path)
    if slot is None or slot.value.kind != "[":
        return text
    items: list[Slot] = []
    cuts: list[tuple[int, int]] = []
    for item in slot.value.slots:
        hooks = item.value.member("hooks")
        inside = [item] if hooks is None else hooks.value.slots
        gone = [each for each in inside if _is_ours(text, each.value, ours)]
        if gone and len(gone) == len(inside):
            items.append(item)
        elif gone and hooks is not None:
            cuts += _cuts(text, hooks.value, gone)
    if len(items) < len(slot.value.slots):
        return _without(text, [*cuts, *_cuts(text, slot.value, items)])
    if items:
        text = _removed(text, slot.value, items)
    return _without_empty(text, path, keep)


def _is_ours(text: str, value: Value, ours: re.Pattern[str]) -> bool:
    command = value.member("command")
    string = _string(text, value if command is None else command.value)
    return string is not None and ours.fullmatch(string) is not None


def string_at(text: str, path: Sequence[str]) -> str | None:
    """The string under `path`; None where there is none. Raises ConfigurationError for no JSON object."""
    here = parsed(text, path)
    for name in path:
        slot = here.member(name)
        if slot is None:
            return None
        here = slot.value
    return _string(text, here)


def _string(text: str, value: Value) -> str | None:
    """The string that `value` is; None where it is something else."""
    return _unquoted(text[value.start : value.end]) if text[value.start] in "\"'" else None


def parsed(text: str, path: Sequence[str] = ()) -> Value:
    """The places of the members of `text`, and of the values along `path`.

    Raises ConfigurationError where it is no JSON object, or has more than `MAX_VALUES`.
    """
    start = _gap(text, 1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        raise ConfigurationError("The file is empty.")
    value = _value(text, start, 0, count(), path[:1])
    if value.kind != "{" or _gap(text, value.end) != len(text):
        raise ConfigurationError("The file is no JSON object.")
    return value


def _value(
    text: str, at: int, depth: int, number: Iterator[int], names: Container[str] | None = None
) -> Value:
    """The value at `at`; of its members, only those with `names` are looked into."""
    if depth > MAX_DEPTH:
        raise ConfigurationError("The file is nested too deeply.")
    if next(number) >= MAX_VALUES:
        raise ConfigurationError(f"The file has more than {MAX_VALUES:,} values.")
    opening = text[at : at + 1]
    if opening not in ("{", "["):
        match = (_STRING if opening in ("'", '"') else _SCALAR).match(text, at)
        if match is None:
            raise ConfigurationError(f"The file is no JSON at character {at:,}.")
        return Value("", at, match.end())
    value = Value(opening, at, at)
    failures = 0
    at = _gap(text, at + 1)
    closing = "}" if opening == "{" else "]"
    while text[at : at + 1] != closing:
        start, key = at, ""
        if opening == "{":
            match = _STRING.match(text, at) or _NAME.match(text, at)
            colon = -1 if match is None else _gap(text, match.end())
            if match is None or text[colon : colon + 1] != ":":
                raise ConfigurationError(f"The file is no JSON at character {at:,}.")
            key, at = _unquoted(match[0]), _gap(text, colon + 1)
        end = None
        if (
            names is not None
            and key not in names
            and failures < MAX_FAILURES
            and text[at : at + 1] in ("{", "[")
        ):
            end = _end_of_json(text, at)
            failures += end is None
        inside = _value(text, at, depth + 1, number) if end is None else Value(text[at], at, end)
        slot = Slot(key, start, inside)
        value.slots.append(slot)
        at = _gap(text, slot.value.end)
        if text[at : at + 1] == ",":
            at = _gap(text, at + 1)
        elif text[at : at + 1] != closing:
            raise ConfigurationError(f"The file is no JSON at character {at:,}.")
    value.end = at + 1
    return value


def _end_of_json(text: str, at: int) -> int | None:
    """Where the object or array at `at` ends; None where it has more than JSON has."""
    with suppress(ValueError, RecursionError):
        return json.JSONDecoder().raw_decode(text, at)[1]
    return None


def _slot(text: str, path: Sequence[str]) -> tuple[Value, Slot | None]:
    """The innermost object on the way along `path`, and what is under its end, None where there is none."""
    here, missing = _follow(parsed(text, path), path[:-1])
    return here, None if missing else here.member(path[-1])


def _follow(root: Value, path: Sequence[str]) -> tuple[Value, list[str]]:
    """The object that the longest beginning of `path` leads to, and the names that are missing there."""
    here = root
    for number, name in enumerate(path):
        slot = here.member(name)
        if slot is None:
            return here, list(path[number:])
        if slot.value.kind != "{":
            raise ConfigurationError(f"{'.'.join(path[: number + 1])} is not an object.")
        here = slot.value
    return here, []


def _inserted(text: str, container: Value, lead: str, value: Any) -> str:
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    if not container.slots:
        outer = _indent_at(text, container.start)
        indent = outer + _unit(text)
        inside = f"\n{indent}{lead}{_dumped(value, indent)}\n{outer}".replace("\n", end_of_line)
        return text[: container.start + 1] + inside + text[container.end - 1 :]
    last = container.slots[-1]
    line = text.rfind("\n", container.start, last.start) + 1
    after = _gap(text, last.value.end)
    comma = text[after : after + 1] == ","
    at = after + 1 if comma else last.value.end
    if line and _gap(text, line) == last.start:
        # A comment at the end of the line is about the member before.
        rest = _REST_OF_LINE.match(text, at)
        end = rest.end() if rest else at
        indent = _indent_at(text, last.start)
        written = f"\n{indent}{lead}{_dumped(value, indent)}".replace("\n", end_of_line)
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
            after = _gap(text, slot.value.end)
            has_comma = text[after : after + 1] == ","
            if not has_comma and last_left is not None:
                comma = _gap(text, last_left.value.end)
                cuts.append((comma, comma + 1))
            start = previous_end + len(text[previous_end : slot.start].rstrip())
            cuts.append((start, after + 1 if has_comma else slot.value.end))
        else:
            last_left = slot
        previous_end = slot.value.end
    return cuts


def _without(text: str, cuts: Iterable[tuple[int, int]]) -> str:
    """`text` without the parts between such places."""
    parts, at = [], 0
    for start, end in sorted(cuts):
        parts.append(text[at:start])
        at = end
    return "".join([*parts, text[at:]])


def _without_empty(text: str, path: Sequence[str], keep: int) -> str:
    """Removes the container under `path` and those around it, from the inside, while they are empty."""
    for length in range(len(path), keep, -1):
        here, slot = _slot(text, path[:length])
        if slot is None or slot.value.slots or text[slot.value.start + 1 : slot.value.end - 1].strip():
            return text
        text = _removed(text, here, [slot])
    return text


def _dumped(value: Any, indent: str) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", f"\n{indent}")


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))].removeprefix("\ufeff")


def _unit(text: str) -> str:
    """One level of indentation, as the first member of the file has it."""
    match = re.match(r"\ufeff?\s*+\{[ \t]*\r?\n([ \t]+)\S", text)
    return match[1] if match else "  "


def _gap(text: str, at: int) -> int:
    match = _GAP.match(text, at)
    return match.end() if match else at


def _unquoted(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted.strip("'")  # a name or a string of JSON5; its escapes are not for keys of ours
