"""The newest run of each check, and the commands of the turn that failed."""

from typing import Final

from coppice.compaction.actions.action import Action
from coppice.compaction.actions.outputs import counted, error_line
from coppice.compaction.facts.runners import check_words, handles_files, only_looks, selection
from coppice.compaction.facts.usage import shown_words
from coppice.compaction.facts.working_tree import WorkingTree
from coppice.compaction.text.sentences import label
from coppice.files.shell_scanner import Command
from coppice.protocol.state import Check, Failure, RanCommand, WorkState

_MOST_CHECKS: Final = 40
"""Checks that are followed at a time; the oldest go first. The recorded sessions have at most 14."""
_MOST_FAILURES: Final = 10  # of one turn; the newest are shown
_MOST_COMMANDS: Final = 20  # twice as many as a summary of 4,000 tokens shows
_MOST_SINCE: Final = 8
"""Files named as changed since a check."""
_MORE: Final = "others"
_NOTHING_TO_DO: Final = ("nothing to commit", "no changes added to commit", "nothing added to commit")
_HOOKS: Final = ("git", "commit")


class Checks:
    """Follows checks by their words, and failures by program and subcommand."""

    def __init__(self, state: WorkState, tree: WorkingTree) -> None:
        self._tree = tree
        self._checks: dict[tuple[str, ...], tuple[Check, int]] = {
            _words(check.command): (check, 0) for check in state.checks
        }
        self.failed: list[str] = []
        """The checks that the newest action ran and that failed."""
        self.settled: list[str] = []
        """The checks that it settled: they pass, or are part of one that passes."""
        self._failures: dict[tuple[str, ...], Failure] = {}
        self._commands = state.commands
        for failure in state.failures:
            self._failures[tuple(failure.command.split()[:2])] = failure

    def begin_turn(self) -> None:
        """What failed in an earlier turn was dealt with by it, or is a check."""
        self._failures.clear()

    def take(self, action: Action) -> None:
        """Takes in the commands of `action`."""
        self.failed, self.settled = [], []
        checks = [run for run in action.runs if check_words(run.command.words)]
        unclear = [run for run in checks if run.succeeded is None]
        counts = counted(action.output) if len(checks) == 1 or len(unclear) == 1 else (None, "")
        for run in action.runs:
            if words := check_words(run.command.words):
                # Some tools report no status: counts of failures are evidence against it.
                counts_it = len(checks) == 1 or run.succeeded is None
                passed = (
                    counts[0]
                    if counts_it and (counts[0] is False or run.succeeded is None)
                    else run.succeeded
                )
                if passed is None:
                    self._checks.pop(words, None)  # its newest run is not known to have passed or failed
                else:
                    name = label(str(run.command))
                    line = _result(action.output, counts, passed=passed) if counts_it else ""
                    self._ran(words, Check(entry_id=action.entry, command=name, passed=passed, result=line))
            elif run.command.runs("git", "commit"):
                self._committed(action, succeeded=run.succeeded)
            elif run.succeeded is not None and not action.by_user and not only_looks(run.command.words):
                self._other(run.command, action, succeeded=run.succeeded)

    def write(self, state: WorkState) -> None:
        """Writes the checks and failures into `state`."""
        state.checks = [self._with_changes(check, clock) for check, clock in self._checks.values()]
        state.commands = self._commands
        state.failures = list(self._failures.values())

    def _with_changes(self, check: Check, clock: int) -> Check:
        since = dict.fromkeys([*check.changed_since, *self._tree.changed_since(clock)])
        more = _MORE in since or len(since) > _MOST_SINCE
        newest = [path for path in since if path != _MORE][-_MOST_SINCE:]
        return check.model_copy(update={"changed_since": [*newest, *([_MORE] if more else [])]})

    def _ran(self, words: tuple[str, ...], check: Check) -> None:
        """A run takes the place of those that it repeats; a failure, also of a pass that covers it."""
        for other in [other for other in self._checks if other[0] == words[0]]:
            before = self._checks[other][0]
            if covers(words, other):
                self.settled += [before.command] if check.passed else []
                del self._checks[other]
            elif before.passed and not check.passed and covers(other, words):
                del self._checks[other]
        if not check.passed:
            self.failed.append(check.command)
        self._checks[words] = check, self._tree.clock
        if len(self._checks) > _MOST_CHECKS:
            del self._checks[next(iter(self._checks))]

    def _committed(self, action: Action, *, succeeded: bool | None) -> None:
        """A commit that fails, while there is something to commit, failed in a hook."""
        nothing = any(text in action.output for text in _NOTHING_TO_DO)
        if succeeded is False and not nothing and "fatal:" not in action.output:
            line = error_line(action.output)
            self._ran(_HOOKS, Check(entry_id=action.entry, command="git commit", passed=False, result=line))
        elif succeeded and self._checks.pop(_HOOKS, None):
            self.settled.append("git commit")

    def _other(self, command: Command, action: Action, *, succeeded: bool) -> None:
        purpose = command.program, *command.operands[:1]
        self._failures.pop(purpose, None)
        if succeeded:
            about = _about(command.words)
            if about and not handles_files(command.words):
                ran = RanCommand(entry_id=action.entry, command=" ".join(shown_words(command.words)))
                others = (each for each in self._commands if not _about(tuple(each.command.split())) <= about)
                self._commands = [*others, ran][-_MOST_COMMANDS:]
        else:
            self._failures[purpose] = Failure(
                entry_id=action.entry, command=label(str(command)), error=error_line(action.output)
            )
            if len(self._failures) > _MOST_FAILURES:
                del self._failures[next(iter(self._failures))]


def _about(words: tuple[str, ...]) -> frozenset[str]:
    """The program, and what it was run on that has a number; empty where nothing has."""
    names = {word for word in words[1:] if not word.startswith("-") and any(map(str.isdigit, word))}
    return frozenset([words[0], *names] if names else ())


def _words(command: str) -> tuple[str, ...]:
    words = tuple(command.split())
    return check_words(words) or words


def _result(output: str, counts: tuple[bool | None, str], *, passed: bool) -> str:
    """What a run printed of its result: the counts, and of a failure the line that states the error."""
    line = counts[1] if counts[0] == passed else ""
    error = "" if passed else error_line(output)
    return line if error in line else "; ".join(filter(None, (error, line)))


def covers(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether a run of `one` does everything that a run of `other` does: the same program, no more options,
    and for each operand of `other` one that is it, or a folder or file above it.
    """
    options, operands = selection(one)
    others, others_operands = selection(other)
    return (
        one[0] == other[0]
        and options <= others
        and (not operands or all(any(_above(each, word) for each in operands) for word in others_operands))
        and (bool(others_operands) or not operands)
    )


def _above(one: str, other: str) -> bool:
    return other == one or other.startswith((f"{one.rstrip('/')}/", f"{one}::"))
