"""References of statements to the entries that they are based on: `[#id]`."""

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from os.path import commonprefix
from typing import Final

from coppice.compaction.summary import Summary, SummaryDecision
from coppice.protocol.ledger import Fact, WorkLedger

_SHORTEST_ID: Final = 8
"""Characters of a reference; of hexadecimal ids one in four billion (design: `[#26c4206e]`)."""
_REFERENCE: Final = re.compile(r" ?\[#([A-Za-z0-9_-]{1,80})\]")


def short_ids(entries: Iterable[str]) -> dict[str, str]:
    """For each id the shortest prefix, of at least eight characters, that no other one begins with."""
    ordered = sorted(set(entries))
    shared = [len(commonprefix(pair)) for pair in pairwise(ordered)]  # noqa: RUF071 - ids, not paths
    return {
        entry: entry[: max(_SHORTEST_ID, 1 + max(shared[max(0, place - 1) : place + 1], default=0))]
        for place, entry in enumerate(ordered)
    }


def resolve(reference: str, entries: Iterable[str]) -> str | None:
    """The entry whose id begins with `reference`; None where there is none, or more than one."""
    found = [entry for entry in entries if entry.startswith(reference)] if reference else []
    return found[0] if len(found) == 1 else None


def entries_in(ledger: WorkLedger) -> frozenset[str]:
    """The ids of the entries that a ledger's facts are based on."""
    found: set[str] = set()
    for name in type(ledger).model_fields:
        facts = getattr(ledger, name)
        if isinstance(facts, list):
            found.update(fact.entry_id for fact in facts if isinstance(fact, Fact))
    return frozenset(found - {""})


def with_known_references(summary: Summary, known: frozenset[str]) -> tuple[Summary, int]:
    """`summary` without references to entries that are not `known`, and how many those were."""
    dropped = 0

    def checked(text: str) -> str:
        def kept(match: re.Match[str]) -> str:
            nonlocal dropped
            if len(match[1]) >= _SHORTEST_ID and resolve(match[1], known) is not None:
                return match[0]
            dropped += 1
            return ""

        return _REFERENCE.sub(kept, text)

    texts = {
        name: tuple(checked(text) for text in getattr(summary, name))
        for name in ("goal", "constraints", "done", "in_progress", "blocked", "next_steps", "context", "turn")
    }
    decisions = tuple(SummaryDecision(checked(each.what), checked(each.why)) for each in summary.decisions)
    return replace(summary, decisions=decisions, **texts), dropped  # type: ignore[arg-type]
