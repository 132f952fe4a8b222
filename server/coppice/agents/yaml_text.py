"""Places in a YAML file of block mappings, as agents write their configurations.

Only what is needed to add and take out entries as text: mappings by indentation. What stands on a key's own
line may be anything; who edits checks that the outcome is right.
"""

import re
from dataclasses import dataclass
from typing import Final

_KEY: Final = re.compile(
    r"""(?P<indent> *)(?P<key>[A-Za-z0-9_.-]+|"[^"\n]*"|'[^'\n]*') *:(?:[ \t]+(?P<value>.*))?$"""
)
_IGNORED: Final = re.compile(r"[ \t]*(?:#.*)?$")
_COMMENT: Final = re.compile(r"(?:^|[ \t])#.*", re.DOTALL)


@dataclass(frozen=True)
class Entry:
    """A key with its value: the lines `first` up to `end`, of which the last has something."""

    first: int
    end: int
    indent: int
    value: str

    @property
    def inline(self) -> str:
        """What stands on the key's line, without a comment."""
        return self.value if self.value[:1] in ("'", '"', "{", "[") else _COMMENT.sub("", self.value).strip()


def lines_of(text: str) -> list[str]:
    """The lines, each with its end."""
    return text.splitlines(keepends=True)


def entries_in(lines: list[str], parent: Entry | None) -> dict[str, Entry]:
    """The entries of the mapping that is the value of `parent`, or of the file, by key."""
    first, end = (0, len(lines)) if parent is None else (parent.first + 1, parent.end)
    starts: list[tuple[str, int, str]] = []
    indent = 0 if parent is None else None
    last = first
    ends: list[int] = []
    for number in range(first, end):
        line = lines[number].rstrip("\r\n")
        if _IGNORED.fullmatch(line):
            continue
        depth = len(line) - len(line.lstrip(" "))
        if indent is None:
            indent = depth
        match = _KEY.fullmatch(line) if depth == indent else None
        if match is not None:
            ends.append(last)
            starts.append((match["key"].strip("\"'"), number, match["value"] or ""))
        last = number + 1
    ends.append(last)
    return {
        key: Entry(number, ends[place + 1], indent or 0, value.strip())
        for place, (key, number, value) in enumerate(starts)
    }


def entry_at(lines: list[str], keys: tuple[str, ...]) -> tuple[Entry | None, int]:
    """The deepest entry on the way along `keys`, and how many of them lead to it."""
    entry: Entry | None = None
    for depth, key in enumerate(keys):
        inner = entries_in(lines, entry).get(key)
        if inner is None:
            return entry, depth
        entry = inner
    return entry, len(keys)
