"""The last line of git's log of HEAD, and whether it says that git replaced files of the working tree.

A line is `<old commit> <new commit> <name> <email> <time> <zone>`, a tab, and `<action>: <words>`
(git-reflog(1), and gitrepository-layout(5) for the file). The words come from a checkout and are text.
"""

import re
from typing import Final

from coppice.tree.entries import GitUpdate

MAX_TARGET: Final = 250
"""Characters of a name. Git allows no longer one as a file."""

_FINISHED: Final = "(finish)"
"""The last step of a rebase. It ends at the commit of the step before."""

_LINE: Final = re.compile(rb"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t\n]*\t([^\n]*)")
_MOVING_TO: Final = re.compile(r"moving (?:from \S+ )?to (\S+)$")
_RETURNING_TO: Final = re.compile(r"returning to (?:refs/heads/)?(\S+)$")


def last_update(log_end: bytes) -> GitUpdate | None:
    """What the last line of a log of HEAD says, or None where git replaced no file then.

    A commit, also an amended, picked or reverted one, is work of whoever makes it. A checkout that makes a
    branch, and a reset to where HEAD already is, end at the commit where they began.
    """
    lines = log_end.rstrip(b"\n").rsplit(b"\n", 1)
    match = _LINE.fullmatch(lines[-1])
    if match is None:
        return None
    old, new = match[1].decode(), match[2].decode()
    action, _, words = match[3].decode("utf-8", "replace").partition(": ")
    verb, _, argument = action.partition(" ")
    if old == new and not argument.endswith(_FINISHED):
        return None
    match verb:
        case "checkout" | "reset":
            target = _named(_MOVING_TO, words)
        case "merge":
            target = argument
        case "pull":
            target = None
        case "rebase" if argument == _FINISHED:
            target = _named(_RETURNING_TO, words)
        case _:
            return None
    return GitUpdate(action=verb, target=_printable(target), commit=new)


def _named(pattern: re.Pattern[str], words: str) -> str | None:
    match = pattern.search(words)
    return match[1] if match else None


def _printable(name: str | None) -> str | None:
    shown = "".join(character if character.isprintable() else " " for character in name or "")
    return shown[:MAX_TARGET].strip() or None
