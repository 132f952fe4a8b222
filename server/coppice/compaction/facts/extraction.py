"""All facts of a span of conversation at once."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from coppice.compaction.facts.actions import Action, actions_of
from coppice.compaction.facts.commands import has_failed, parse_command
from coppice.compaction.facts.constraints import Constraint, constraints_in
from coppice.compaction.facts.decisions import Decision, decisions_in
from coppice.compaction.facts.errors import OpenError, open_errors_in
from coppice.compaction.facts.goals import Request, requests_in
from coppice.compaction.facts.passages import Passage, Source, passages_of
from coppice.compaction.facts.progress import Progress, progress_in
from coppice.compaction.facts.ranking import RankedIdentifier, rank_identifiers
from coppice.compaction.facts.sentences import clip
from coppice.tree.messages import Message

_COMMAND_CHARS: Final = 160
_ONE_OFF: Final = frozenset(
    ("git commit", "git add", "mkdir", "mv", "cp", "rm", "rmdir", "chmod", "touch", "ln", "kill")
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What later work needs of a span of conversation.

    Constraints, requests and decisions stand oldest first, open errors newest first, commands (that worked)
    and identifiers most useful first.
    """

    requests: tuple[Request, ...]
    constraints: tuple[Constraint, ...]
    progress: Progress
    open_errors: tuple[OpenError, ...]
    decisions: tuple[Decision, ...]
    commands: tuple[str, ...]
    identifiers: tuple[RankedIdentifier, ...]


def extract_facts(
    messages: Sequence[Message],
    kept: Sequence[Message] = (),
    previous_summary: str | None = None,
    instructions: str | None = None,
) -> Facts:
    """The facts of `messages`, found by rules alone; the same input gives the same facts.

    `kept` are the messages that follow: what they mend is not open, and what they name ranks higher.
    `previous_summary` and `instructions` (a user's focus) only weigh identifiers here. CPU-bound, about a
    second for a million characters: call it off the event loop.
    """
    actions = actions_of([*messages, *kept])
    own = [action for action in actions if action.index < len(messages)]
    errors = open_errors_in(actions, len(messages) + len(kept))
    return Facts(
        requests=tuple(requests_in(messages)),
        constraints=tuple(constraints_in(messages)),
        progress=progress_in(messages, own),
        open_errors=tuple(error for error in errors if error.index < len(messages)),
        decisions=tuple(decisions_in(messages)),
        commands=tuple(working_commands(own)),
        identifiers=tuple(rank_identifiers(_passages(messages, kept, previous_summary, instructions))),
    )


def working_commands(actions: Sequence[Action]) -> list[str]:
    """The commands that did something and worked, by how often and how lately they were used."""
    uses: Counter[str] = Counter()
    last: dict[str, int] = {}
    for number, action in enumerate(actions):
        if action.command is None or not action.answered or has_failed(action):
            continue
        line = parse_command(action.command)
        short = len(line.text) <= _COMMAND_CHARS
        if short and not line.looks and line.family not in _ONE_OFF:
            uses[line.text] += 1
            last[line.text] = number
    count = max(1, len(actions))
    return sorted(uses, key=lambda text: (-(uses[text] + 3 * last[text] / count), text))


def _passages(
    messages: Sequence[Message],
    kept: Sequence[Message],
    previous_summary: str | None,
    instructions: str | None,
) -> list[Passage]:
    before = [Passage(previous_summary, Source.SUMMARY, -1)] if previous_summary else []
    after = (
        [Passage(clip(instructions, 4_000), Source.USER, len(messages) + len(kept))] if instructions else []
    )
    return [*before, *passages_of([*messages, *kept]), *after]
