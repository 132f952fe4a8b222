"""Bounds a ledger's size: what is old and settled folds into counts, what is open stays."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from coppice.protocol.ledger import Fact, WorkLedger

MOST: Final = {
    "requests": 60,
    "rules": 80,
    "briefs": 12,
    "commits": 40,
    "uncommitted": 80,
    "checks": 20,
    "problems": 40,
    "tasks": 60,
    "jobs": 20,
    "statements": 140,
    "notes": 80,
    "recent": 12,
}
"""Facts of each kind that a stored ledger lists (guess: about 60,000 characters together at the most)."""

_SETTLED: Final[dict[str, Callable[..., bool]]] = {
    "problems": lambda problem: not problem.open,
    "tasks": lambda task: task.state == "done",
    "jobs": lambda job: job.state != "running",
    "requests": lambda request: request.withdrawn_by is not None or request.kind != "request",
    "checks": lambda check: check.passed,
}


def bounded(ledger: WorkLedger) -> WorkLedger:
    """`ledger` with at most so many facts of each kind; what goes is counted in `folded`."""
    folded = dict(ledger.folded)
    kept: dict[str, Sequence[Fact]] = {}
    for name, most in MOST.items():
        facts = list(getattr(ledger, name))
        surplus = len(facts) - most
        if surplus > 0:
            gone = set(_dispensable(name, facts)[:surplus])
            facts = [fact for place, fact in enumerate(facts) if place not in gone]
            folded[name] = folded.get(name, 0) + len(gone)
        kept[name] = facts
    return ledger.model_copy(update={**kept, "folded": folded})


def stored(ledger: WorkLedger) -> dict[str, Any]:
    """The ledger as an entry's `details` hold it, bounded."""
    return bounded(ledger).model_dump(mode="json", by_alias=True)


def _dispensable(name: str, facts: Sequence[Fact]) -> list[int]:
    """The places of facts, the ones that can be missed most first: settled before open, old before new.

    The first request goes last.
    """
    places = range(len(facts))
    if name == "statements":
        return sorted(places, key=lambda place: getattr(facts[place], "score", 0.0) + place / len(facts))
    settled = _SETTLED.get(name)

    def worth(place: int) -> tuple[bool, bool]:
        return name == "requests" and place == 0, settled is None or not settled(facts[place])

    return sorted(places, key=worth)
