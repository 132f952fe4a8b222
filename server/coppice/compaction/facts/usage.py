"""The commands that the work uses again and again: how it is built, checked, looked up and handed on."""

import re
import shlex
from collections.abc import Sequence
from typing import Final

from coppice.compaction.actions.action import Action
from coppice.compaction.facts.runners import is_basic
from coppice.protocol.state import UsedCommand, WorkState
from coppice.tokens.budget import leading

_MOST: Final = 60  # forms that are followed at a time; the recorded sessions have at most 30
_LONGEST_WORD: Final = 100  # characters; a longer one is a text that the command is given
_LONGEST_NAME: Final = 40
"""Characters of a word by which forms differ; what is longer, or has spaces, differs in each run."""
_COMMAND_CHARS: Final = 160  # of a command that is stored, a line and a half
LEFT_OUT: Final = "…"
"""In place of words, or lines, of code."""
_NUMBER: Final = re.compile(r"[0-9…]+")


class Usage:
    """Counts commands by their form, in which numbers and texts are alike; the newest of a form is shown."""

    def __init__(self, state: WorkState) -> None:
        self._used = state.used
        self._forms = {_form(_words(each.command)): each for each in state.used}
        self._counted: object = None

    def take(self, action: Action) -> None:
        """Counts the commands of `action`, but for those that failed or may not have run. One that was left
        running is counted at its end, and one that is polled once.
        """
        if action.running or action.arguments is self._counted:
            return
        self._counted = action.arguments
        for run in action.runs:
            command = run.command
            may_not_have_run = command.conditional or command.operator == "||" or action.failed
            if not is_basic(command.program) and (run.succeeded or not may_not_have_run):
                self._count(shown_words(command.words), action.entry)

    def _count(self, words: list[str], entry: str) -> None:
        form = _form(words)
        before = self._forms.get(form)
        if before is not None:
            self._used.remove(before)
        command = " ".join(map(_quoted, words))
        used = UsedCommand(entry_id=entry, command=command, times=before.times + 1 if before else 1)
        self._used.append(used)
        self._forms[form] = used
        if len(self._used) > _MOST:
            self._forms.pop(_form(_words(self._used.pop(0).command)), None)


def shown_words(words: Sequence[str]) -> list[str]:
    """`words` without long texts, and without the last ones of a long command."""
    short = [word if len(word) <= _LONGEST_WORD and word.isprintable() else LEFT_OUT for word in words]
    first = list(leading(short, _COMMAND_CHARS, lambda word: len(word) + 1))
    return first if len(first) == len(short) else [*first, LEFT_OUT]


def _quoted(word: str) -> str:
    plain = word.replace(LEFT_OUT, "_")
    return word if shlex.quote(plain) == plain else shlex.quote(word)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # a stored one that nobody wrote here
        return command.split()


def _form(words: list[str]) -> tuple[str, ...]:
    """`words` without their numbers; a long text is empty."""
    return tuple(
        _NUMBER.sub("", word) if len(word) <= _LONGEST_NAME and " " not in word else "" for word in words
    )
