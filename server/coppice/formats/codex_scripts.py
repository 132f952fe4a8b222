"""Tool calls inside the scripts of Codex's code mode.

There a model calls one tool, `exec`, with JavaScript that calls the others: `await tools.exec_command({…})`.
Only literals are read. When an argument is computed, the script has no readable calls.
"""

import re
import sys
from typing import Any, Final, NamedTuple

from coppice.tree.nesting import nests_deeper

SCRIPT_TOOL: Final = "exec"

MAX_SCRIPT_CHARS: Final = 1_000_000
"""Longer scripts are not parsed. A model's reply, of which they are a part, has at most 128,000 tokens."""

MAX_CALLS: Final = 64
"""Scripts with more calls are not parsed. The recorded ones have at most two."""

_MAX_DEPTH: Final = 32  # levels of nesting: each takes several of Python's 1,000 frames
_MAX_COPIES: Final = 4
"""How many times its own length the variables and joins of a script may add to its values. All 320 of 323
recorded scripts that can be parsed at all need no more than 1."""
_MAX_DIGITS: Final = 40  # digits of a number: one of 128 bits has 39

_STRING: Final = re.compile(
    r'"((?:[^"\\\n]++|\\[\s\S])*+)"|'
    r"'((?:[^'\\\n]++|\\[\s\S])*+)'|"
    r"(String\.raw)?+`((?:[^`\\]++|\\[\s\S])*+)`"
)
_LANDMARK: Final = re.compile(
    rf"(?P<string>{_STRING.pattern})|(?P<open>[\"'`][\s\S]*+)|//[^\n]*+|"
    r"\btools\.(?P<tool>[A-Za-z_$][\w$]*+)[ \n]*+\(|"
    r"\b(?:const|let|var)[ \n]++(?P<name>[A-Za-z_$][\w$]*+)[ \n]*+="
)
"""What a script is divided by: strings, comments, tool calls, variables.

`open` is an unfinished string, up to the end of the script: its quotes are not tried one after the other.
"""

_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*+")
_NUMBER: Final = re.compile(r"-?\d++(?:\.\d++)?+(?:[eE][+-]?\d++)?+", re.ASCII)
_BLANK: Final = re.compile(r"(?:\s++|//[^\n]*+)*+")
_JOIN: Final = re.compile(r"\.join\(\s*+(?:\"((?:[^\"\\\n]++|\\.)*+)\"|'((?:[^'\\\n]++|\\.)*+)')\s*+\)")
_STATEMENT_END: Final = re.compile(r"[ \t]*+(?:[;,\n]|$)")
_ESCAPE: Final = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))")
_SINGLE: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None, "undefined": None}


class NestedCall(NamedTuple):
    """One call of a script. An argument that is no object becomes the property `input`."""

    name: str
    arguments: dict[str, Any]


class _NotALiteralError(ValueError):
    """An expression whose value is known only when it is run."""


def nested_calls(script: str) -> list[NestedCall]:
    """The tool calls of `script` in their order; none when one of them cannot be read."""
    if len(script) > MAX_SCRIPT_CHARS:
        return []
    calls: list[tuple[str, int]] = []
    literals = _Literals(script)
    for match in _LANDMARK.finditer(script):
        if match["open"]:
            return []
        if match["tool"]:
            calls.append((match["tool"], match.end()))
        elif match["name"]:
            literals.assign(match["name"], match.end())
    if len(calls) > MAX_CALLS:
        return []
    try:
        nested = [NestedCall(tool, literals.argument(position)) for tool, position in calls]
    except _NotALiteralError:
        return []
    return [] if any(nests_deeper(call.arguments, _MAX_DEPTH) for call in nested) else nested


class _Literals:
    """Reads the literals of `script` and remembers those that variables are set to.

    A value's size is at most the length of its expression, and what variables and joins add to that.
    """

    def __init__(self, script: str) -> None:
        self._script = script
        self._names: dict[str, Any] = {}
        self._sizes: dict[str, int] = {}
        self._added = 0
        self._unknown: set[str] = set()

    def assign(self, name: str, position: int) -> None:
        """Sets `name` to the value at `position`. A name that is set twice has no known value."""
        added = self._added
        try:
            value, end = self.value(position)
        except _NotALiteralError:
            self._unknown.add(name)
            return
        if name in self._names or not _STATEMENT_END.match(self._script, end):
            self._unknown.add(name)
        self._names[name] = value
        self._sizes[name] = end - position + self._added - added

    def argument(self, position: int) -> dict[str, Any]:
        """The one argument of the call whose parenthesis was opened before `position`."""
        if self._after_blank(position, ")"):
            return {}
        value, position = self.value(position)
        if not self._after_blank(position, ")"):
            raise _NotALiteralError
        return value if isinstance(value, dict) else {"input": value}

    def value(self, position: int, depth: int = 0) -> tuple[Any, int]:
        """The value of the expression at `position`, inside `depth` arrays and objects, and where it ends."""
        if depth > _MAX_DEPTH:
            raise _NotALiteralError
        value, position = self._operand(self._blank(position), depth)
        while end := self._after_blank(position, "+"):
            more, position = self._operand(self._blank(end), depth)
            if not isinstance(value, str) or not isinstance(more, str):
                raise _NotALiteralError
            value += more
        return value, position

    def _operand(self, position: int, depth: int) -> tuple[Any, int]:
        script = self._script
        match script[position : position + 1]:
            case "{":
                return self._object(position + 1, depth + 1)
            case "[":
                return self._array(position + 1, depth + 1)
        if number := _NUMBER.match(script, position):
            return _number(number[0]), number.end()
        if string := _STRING.match(script, position):
            return _text(string), string.end()
        if name := _NAME.match(script, position):
            return self._named(name[0]), name.end()
        raise _NotALiteralError

    def _named(self, name: str) -> Any:
        if name in _WORDS:
            return _WORDS[name]
        if name not in self._names or name in self._unknown:
            raise _NotALiteralError
        self._add(self._sizes[name])
        return self._names[name]

    def _add(self, size: int) -> None:
        self._added += size
        if self._added > _MAX_COPIES * len(self._script):
            raise _NotALiteralError

    def _object(self, position: int, depth: int) -> tuple[dict[str, Any], int]:
        members: dict[str, Any] = {}
        while not (end := self._after_blank(position, "}")):
            position = self._blank(position)
            key = _STRING.match(self._script, position) or _NAME.match(self._script, position)
            if key is None:
                raise _NotALiteralError
            name = _text(key) if key.re is _STRING else key[0]
            if colon := self._after_blank(key.end(), ":"):
                members[name], position = self.value(colon, depth)
            else:
                members[name], position = self._named(name), key.end()
            position = self._separator(position, "}")
        return members, end

    def _array(self, position: int, depth: int) -> tuple[Any, int]:
        items: list[Any] = []
        while not (end := self._after_blank(position, "]")):
            value, position = self.value(position, depth)
            items.append(value)
            position = self._separator(position, "]")
        joined = _JOIN.match(self._script, end)
        if joined and all(isinstance(item, str) for item in items):
            separator = _unescaped(joined[1] or joined[2] or "")
            self._add(len(separator) * len(items))
            return separator.join(items), joined.end()
        return items, end

    def _separator(self, position: int, closing: str) -> int:
        if comma := self._after_blank(position, ","):
            return comma
        if self._after_blank(position, closing):
            return position
        raise _NotALiteralError

    def _after_blank(self, position: int, expected: str) -> int:
        """The position after `expected`; 0 when something else comes next."""
        position = self._blank(position)
        return position + 1 if self._script.startswith(expected, position) else 0

    def _blank(self, position: int) -> int:
        match = _BLANK.match(self._script, position)
        return position if match is None else match.end()


def _number(text: str) -> int | float:
    if len(text) > _MAX_DIGITS:
        raise _NotALiteralError
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _text(match: re.Match[str]) -> str:
    plain = match[1] if match[1] is not None else match[2]
    if plain is not None:
        return _unescaped(plain)
    template = match[4] or ""
    if "${" in template:
        raise _NotALiteralError
    return template if match[3] else _unescaped(template)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    joined = _ESCAPE.sub(_character, text).encode("utf-16", errors="surrogatepass")
    return joined.decode("utf-16", errors="replace")


def _character(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code is None:
        return _SINGLE.get(match[4], match[4])
    number = int(code, 16)
    return chr(number) if number <= sys.maxunicode else "\ufffd"
