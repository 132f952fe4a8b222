"""Places in JSON with comments, or JSON5. What is no JSON object is refused."""

import json
import re
from collections.abc import Container, Iterator, Sequence
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

COMMENT: Final = re.compile(r"//[^\r\n]*+|/\*(?:[^*]|\*(?!/))*+\*/")
"""Where no string begins before it."""
_GAP: Final = re.compile(rf"(?:[ \t\r\n]++|{COMMENT.pattern})*+")
_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\(?s:.))*+"|\'(?:[^\'\\\n]|\\(?s:.))*+\'')
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*+")
_SCALAR: Final = re.compile(r"[^\s,\]}/]++")


class ConfigurationError(CoppiceError):
    """A configuration file cannot be edited."""

    code = "agent-configuration"


@dataclass(slots=True)
class Slot:
    """A member of an object, or an item of an array with an empty `key`.

    `start` is where its text begins, and `after_key` where its key ends: in an array, the same.
    """

    key: str
    start: int
    after_key: int
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


def parsed(text: str, path: Sequence[str] = ()) -> Value:
    """The places of the members of `text`, and of the values along `path`.

    Raises ConfigurationError where it is no JSON object, or has more than `MAX_VALUES`.
    """
    start = gap(text, 1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        raise ConfigurationError("The file is empty.")
    value = _value(text, start, 0, count(), path[:1])
    if value.kind != "{" or gap(text, value.end) != len(text):
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
    at = gap(text, at + 1)
    closing = "}" if opening == "{" else "]"
    while text[at : at + 1] != closing:
        start, after_key, key = at, at, ""
        if opening == "{":
            match = _STRING.match(text, at) or _NAME.match(text, at)
            colon = -1 if match is None else gap(text, match.end())
            if match is None or text[colon : colon + 1] != ":":
                raise ConfigurationError(f"The file is no JSON at character {at:,}.")
            key, after_key, at = _unquoted(match[0]), match.end(), gap(text, colon + 1)
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
        slot = Slot(key, start, after_key, inside)
        value.slots.append(slot)
        at = gap(text, slot.value.end)
        if text[at : at + 1] == ",":
            at = gap(text, at + 1)
        elif text[at : at + 1] != closing:
            raise ConfigurationError(f"The file is no JSON at character {at:,}.")
    value.end = at + 1
    return value


def _end_of_json(text: str, at: int) -> int | None:
    """Where the object or array at `at` ends; None where it has more than JSON has."""
    with suppress(ValueError, RecursionError):
        return json.JSONDecoder().raw_decode(text, at)[1]
    return None


def way(root: Value, path: Sequence[str]) -> list[Slot]:
    """The members to which `path` leads, from the outermost on, as far as there are any."""
    slots: list[Slot] = []
    for key in path:
        slot = (slots[-1].value if slots else root).member(key)
        if slot is None:
            break
        slots.append(slot)
    return slots


def string_at(text: str, path: Sequence[str]) -> str | None:
    """The string under `path`; None where there is none. Raises ConfigurationError for no JSON object."""
    slots = way(parsed(text, path), path)
    return string_of(text, slots[-1].value) if len(slots) == len(path) else None


def string_of(text: str, value: Value) -> str | None:
    """The string that `value` is; None where it is something else."""
    return _unquoted(text[value.start : value.end]) if text[value.start] in "\"'" else None


def data_of(text: str, value: Value) -> Any:
    """What `value` is, which was looked into. A number that only JSON5 has equals nothing."""
    if value.kind == "{":
        return {slot.key: data_of(text, slot.value) for slot in value.slots}
    if value.kind == "[":
        return [data_of(text, slot.value) for slot in value.slots]
    string = string_of(text, value)
    with suppress(ValueError):
        return json.loads(text[value.start : value.end]) if string is None else string
    return object()


def gap(text: str, at: int) -> int:
    """Where the blanks and comments at `at` end."""
    match = _GAP.match(text, at)
    return match.end() if match else at


def _unquoted(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted.strip("'")  # a name or a string of JSON5; its escapes are not for keys of ours
