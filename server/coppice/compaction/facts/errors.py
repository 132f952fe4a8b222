"""Errors that are still open: what failed, and did not work later on."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from coppice.compaction.facts.actions import Action, ActionKind
from coppice.compaction.facts.commands import error_line, has_failed, parse_command
from coppice.compaction.facts.sentences import clip, one_line

_STALE_AFTER: Final = 60
_COMMAND_CHARS: Final = 160
_STOPPED: Final = re.compile(
    r"\b(?:aborted|cancel+ed|interrupted|rejected) by|Command aborted|doesn['’]t want to", re.IGNORECASE
)
_INLINE_SCRIPT: Final = re.compile(r"\s(?:-e|-c|--eval)\s")


@dataclass(frozen=True, slots=True)
class OpenError:
    """`what` is the command or the change that failed, `error` the telling line of its output."""

    what: str
    error: str
    index: int


def open_errors_in(actions: Sequence[Action], end: int) -> list[OpenError]:
    """The failures in `actions` that nothing later mended, newest first.

    A failed command is mended when the same command, or one of its family that covers the same targets,
    is tried again later (its own failure then counts), or when a file that its output names was changed and
    a command worked after that; a failed change when the file is changed later. A change that failed more
    than 60 messages before `end`, the length of the conversation, is no longer waited for.
    """
    found: dict[str, OpenError] = {}
    later = _Later()
    for action in reversed(actions):
        if not action.answered:
            continue
        if not has_failed(action):
            later.worked(action)
            continue
        if _STOPPED.search(action.output[-200:]):
            continue
        error = _error_of(action)
        if (
            error is not None
            and not later.mends(action.command, action.paths, action.output)
            and not _is_stale(action, end)
        ):
            found.setdefault(error.what, error)
        later.tried(action)
    return list(found.values())


def is_still_open(what: str, error: str, actions: Sequence[Action]) -> bool:
    """Whether nothing in `actions`, all of them later, mended the error of the command `what`."""
    later = _Later()
    for action in reversed(actions):
        if action.answered and not has_failed(action):
            later.worked(action)
    return not later.mends(what, (), error)


class _Later:
    """What was done after an error, gathered from the end of the conversation back."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self._targets: dict[str, list[frozenset[str]]] = {}
        self._changed: set[str] = set()
        self._checked = False

    def worked(self, action: Action) -> None:
        self._paths.update(action.paths)
        if action.kind is ActionKind.CHANGE and self._checked:
            self._changed.update(path.rpartition("/")[2] for path in action.paths)
        if action.command is not None:
            self._checked = self._checked or not parse_command(action.command).looks
        self.tried(action)

    def tried(self, action: Action) -> None:
        """A later attempt of the same kind tells more than an earlier one, even one that fails again."""
        if action.command is not None:
            line = parse_command(action.command)
            self._targets.setdefault(line.family, []).append(line.targets)

    def mends(self, command: str | None, paths: Sequence[str], output: str) -> bool:
        if command is None:
            return any(path in self._paths for path in paths)
        if any(name in output for name in self._changed):
            return True
        line = parse_command(command)
        attempts = self._targets.get(line.family, [])
        if attempts and _INLINE_SCRIPT.search(line.text):
            return True
        return any(not targets or targets >= line.targets for targets in attempts)


def _is_stale(action: Action, end: int) -> bool:
    return action.kind is not ActionKind.COMMAND and end - action.index > _STALE_AFTER


def _error_of(action: Action) -> OpenError | None:
    error = error_line(action.output)
    if action.command is not None:
        return OpenError(clip(parse_command(action.command).text, _COMMAND_CHARS), error, action.index)
    if action.kind is ActionKind.CHANGE and action.paths:
        return OpenError(f"{one_line(action.tool)} {one_line(action.paths[0])}", error, action.index)
    return None
