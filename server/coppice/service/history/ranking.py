"""Which entries, and which pieces of them, answer a question best.

Both steps weigh a word by how rare it is. Entries are chosen by the groups they hold; their pieces are then
ranked by BM25, where prose counts more than dumps and newer text a little more than older.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from coppice.service.history.pieces import pieces_of
from coppice.service.history.query import Query, StemCounter
from coppice.store.recalling import Postings, RecallRow

MAX_CANDIDATES: Final = 60
"""Entries that are read for one question. tests/benchmarks/recall_tools.py: 30 find 6 answers of 85 less, and
120 find no more."""

MAX_CANDIDATE_CHARS: Final = 1_000_000
"""Characters that are ranked for one question, which bounds the time. recall_tools.py: 300,000 lose two
answers of 85."""

PROSE_WEIGHT: Final = 1.4
"""Of what people and the model wrote, against output of tools. recall_tools.py: of 85 answers 1.0 finds one
less and 1.8 two more, which may be chance."""
SUMMARY_WEIGHT: Final = 0.5
"""A summary repeats its sources, which are what is looked for. A guess."""
ERROR_WEIGHT: Final = 1.3
"""Of a failed result, when the question asks for what went wrong. A guess."""
NEWEST_BONUS: Final = 0.3
"""How much more the newest candidate counts than the oldest. A guess: people ask for what is recent; in
recall_tools.py it changes nothing."""

NEAR_SHARE: Final = 0.1
"""Of the best score of the entry before or after: a call and its result belong together. recall_tools.py: of
85 answers two more; four times as much finds no more."""

_K1: Final = 1.2  # saturation of a term's frequency
_B: Final = 0.75
"""The usual constants of BM25."""
_REPEATED_SHARE: Final = 0.6
"""A piece of whose lines so many were given already is left out. A guess."""
_LINE_CHARS: Final = 20
"""Shorter lines repeat by chance."""

SUMMARY_TYPES: Final = frozenset({"compaction", "branch_summary"})


@dataclass(frozen=True, slots=True)
class Source:
    """An entry that may answer: its text, and how much its kind counts."""

    row: RecallRow
    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A piece of a source. `whole` is set when the source has no other."""

    source: Source
    text: str
    score: float
    whole: bool


def choose_candidates(query: Query, postings: Postings) -> list[int]:
    """The keys of the entries that hold the rarest of what was asked for, the best first.

    `postings` are those of the query's groups.
    """
    scores: defaultdict[int, float] = defaultdict(float)
    for group, keys in zip(query.groups, postings.keys, strict=True):
        weight = group.weight * rarity(keys, postings)
        for key in keys:
            scores[key] += weight
    return sorted(scores, key=lambda key: (-scores[key], -key))


def rarity(keys: Sequence[int], postings: Postings) -> float:
    """The inverse document frequency of a group. Where only its newest entries are known, it is estimated."""
    span = postings.span
    frequency = float(len(keys))
    if len(keys) >= postings.most:
        frequency *= span / (keys[0] - keys[-1] + 1)
    return _inverse_frequency(min(frequency, span), span)


def _inverse_frequency(frequency: float, total: int) -> float:
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def ranked_hits(query: Query, sources: Sequence[Source]) -> list[Hit]:
    """The pieces of `sources` that hold something of the query, the best first."""
    counter = StemCounter(query)
    counted: list[tuple[Source, str, dict[str, int], int, bool]] = []
    left = MAX_CANDIDATE_CHARS
    for source in sources:
        if left <= 0:
            break
        pieces = pieces_of(source.text)
        left -= sum(map(len, pieces))
        for piece in pieces:
            counts, length = counter.count(piece)
            counted.append((source, piece, counts, length, len(pieces) == 1))
    if not counted:
        return []
    average = sum(length for *_, length, _ in counted) / len(counted) or 1
    frequency = Counter(found for _, _, counts, _, _ in counted for found in counts)
    weights = {
        group.stem: group.weight * _inverse_frequency(frequency[group.stem], len(counted))
        for group in query.groups
    }
    newest = {key: place for place, key in enumerate(sorted(source.row.key for source in sources), start=1)}
    hits = []
    for source, piece, counts, length, whole in counted:
        score = sum(
            weights[found] * (count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length / average)))
            for found, count in counts.items()
        )
        if score:
            hits.append(Hit(source, piece, score, whole))
    best: dict[int, float] = {}
    for hit in hits:
        best[hit.source.row.key] = max(best.get(hit.source.row.key, 0.0), hit.score)
    following = {source.row.parent_key: source.row.key for source in sources}
    weighed = []
    for hit in hits:
        row = hit.source.row
        near = max(best.get(row.parent_key or 0, 0.0), best.get(following.get(row.key, 0), 0.0))
        recency = 1 + NEWEST_BONUS * newest[row.key] / len(newest)
        weighed.append(replace(hit, score=(hit.score + NEAR_SHARE * near) * hit.source.weight * recency))
    return sorted(weighed, key=lambda hit: (-hit.score, -hit.source.row.key))


def without_repeats(hits: Iterable[Hit]) -> list[Hit]:
    """The hits without those whose lines were given already, mostly; dumps of the same file, for one."""
    kept: list[Hit] = []
    given: set[int] = set()
    for hit in hits:
        lines = {hash(line.strip()) for line in hit.text.splitlines() if len(line.strip()) > _LINE_CHARS}
        if lines and len(lines & given) > _REPEATED_SHARE * len(lines):
            continue
        given |= lines
        kept.append(hit)
    return kept
