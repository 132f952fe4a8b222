"""Errors that are still open: what failed, and did not work later on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from coppice.compaction.facts.actions import Action, ActionKind
from coppice.compaction.facts.commands import error_line, has_failed, parse_command
from coppice.compaction.facts.sentences import clip, one_line

_STALE_AFTER: Final = 60
_COMMAND_CHARS: Final = 160


@dataclass(frozen=True, slots=True)
class OpenError:
    """`what` is the command or the change that failed, `error` the telling line of its output."""

    what: str
    error: str
    index: int


def open_errors_in(actions: Sequence[Action], end: int) -> list[OpenError]:
    """The failures in `actions` that nothing later mended, newest first.

    A failed command is mended when the same command, or one of its family that covers the same targets,
    works later; a failed change when the file is changed later. An error whose files
    were changed before any later command worked is taken for mended too. A change that failed more than 60
    messages before `end`, the length of the conversation, is no longer waited for.
    """
    found: dict[str, OpenError] = {}
    mended = _Mended()
    for action in reversed(actions):
        if not action.answered:
            continue
        if not has_failed(action):
            mended.add(action)
            continue
        error = _error_of(action)
        if error is not None and not mended.covers(action) and not _is_stale(action, end):
            found.setdefault(error.what, error)
        mended.retried(action)
    return list(found.values())


class _Mended:
    """What worked, seen from the end of the conversation back."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self._texts: set[str] = set()
        self._targets: dict[str, list[frozenset[str]]] = {}
        self._changed: set[str] = set()
        self._checked = False

    def add(self, action: Action) -> None:
        self._paths.update(action.paths)
        if action.kind is ActionKind.CHANGE and self._checked:
            self._changed.update(path.rpartition("/")[2] for path in action.paths)
        if action.command is not None:
            line = parse_command(action.command)
            self._checked = self._checked or not line.looks
            self._texts.add(line.text)
            self._targets.setdefault(line.family, []).append(line.targets)

    def retried(self, action: Action) -> None:
        """A later attempt of the same kind tells more than an earlier one: only the later counts."""
        if action.command is not None:
            line = parse_command(action.command)
            self._targets.setdefault(line.family, []).append(line.targets)

    def covers(self, action: Action) -> bool:
        if action.command is None:
            return any(path in self._paths for path in action.paths)
        line = parse_command(action.command)
        if line.text in self._texts or any(name in action.output for name in self._changed):
            return True
        later = self._targets.get(line.family, [])
        return any(not targets or targets >= line.targets for targets in later)


def _is_stale(action: Action, end: int) -> bool:
    return action.kind is not ActionKind.COMMAND and end - action.index > _STALE_AFTER


def _error_of(action: Action) -> OpenError | None:
    error = error_line(action.output)
    if action.command is not None:
        return OpenError(clip(parse_command(action.command).text, _COMMAND_CHARS), error, action.index)
    if action.kind is ActionKind.CHANGE and action.paths:
        return OpenError(f"{one_line(action.tool)} {one_line(action.paths[0])}", error, action.index)
    return None
