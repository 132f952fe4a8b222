"""References from a summary to entries: ids as short as they are unique."""

from collections.abc import Iterable, Mapping
from typing import Final

from coppice.protocol.ledger import WorkLedger

_SHORTEST: Final = 4
"""Characters of an id that a person reads and a model copies without an error."""


def entries_in(ledger: WorkLedger) -> list[str]:
    """The ids of the entries that a ledger is based on, without repeats."""
    state = ledger.state
    facts = [
        *ledger.messages, *ledger.quotations, *state.commits, *state.uncommitted, *state.checks,
        *state.failures, *state.tasks, *state.jobs, *state.commands,
    ]  # fmt: skip
    return list(dict.fromkeys(fact.entry_id for fact in facts if fact.entry_id))


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """For each id its shortest beginning that no other one has. Sorted neighbours are compared."""
    ordered = sorted(set(ids))
    short: dict[str, str] = {}
    for place, each in enumerate(ordered):
        neighbours = ordered[max(0, place - 1) : place] + ordered[place + 1 : place + 2]
        shared = max((_shared(each, other) for other in neighbours), default=0)
        short[each] = each[: max(_SHORTEST, shared + 1)]
    return short


def referenced(text: str, entry: str, references: Mapping[str, str]) -> str:
    """`text` with the reference to its entry, where there is one."""
    return f"{text} [#{references[entry]}]" if entry in references else text


def _shared(one: str, other: str) -> int:
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
