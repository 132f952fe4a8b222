"""Which pieces of entries answer a question best.

All pieces that hold a stem of the question are ranked by BM25, where prose counts more than the output of
tools, newer text a little more than older, and a piece the more when the entry before or after its own is
about the question too.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from coppice.store.search.recalling import PieceRow, Postings, RecallRow

MAX_CANDIDATES: Final = 300
"""Pieces that are ranked for one question, those with the rarest stems. recall_tools.py: 200 and 1,000 find
the same."""
PROSE_WEIGHT: Final = 2.0
"""Of what people and the model wrote, against output of tools. recall_tools.py: with 1.6 the pages of 4,000
tokens hold three answers of 85 less in one item."""
SUMMARY_WEIGHT: Final = 0.5
"""A summary repeats its sources, which are what is looked for. recall_tools.py: 0.25 and 1 find the same."""
NEWEST_BONUS: Final = 0.2
"""How much more the newest candidate counts than the oldest. recall_tools.py: without it the pages of 2,000
tokens hold two answers of 85 less."""
NEAR_SHARE: Final = 0.3
"""Of the best score of the entry before or after: a call and its result belong together. recall_tools.py:
with 0.2 and 0.5 one answer of 85 more or less."""

_K1: Final = 1.2  # saturation of a stem's frequency
_B: Final = 0.75
"""The usual constants of BM25."""
_PIECES_AN_ENTRY: Final = 3
"""Measured in six recorded sessions: 2.1 to 5.2."""

SUMMARY_TYPES: Final = frozenset({"compaction", "branch_summary"})
_PROSE_ROLES: Final = frozenset({"user", "assistant"})


@dataclass(frozen=True, slots=True)
class Hit:
    """A text of an entry that answers a question. `whole` is set when the entry has no other, `added` when
    an application put it into the user's message.
    """

    row: RecallRow
    text: str
    score: float
    whole: bool
    added: bool = False


@dataclass(frozen=True, slots=True)
class Ranked:
    """A piece with its score."""

    piece: PieceRow
    score: float


def rarities(stems: Mapping[str, float], postings: Postings) -> dict[str, float]:
    """The weight of each stem that occurs: how rare it is, times how much it counts in the question.

    `postings` are those of the stems. Where only the newest pieces of one are known, their number is
    estimated by how densely they lie.
    """
    total = postings.span * _PIECES_AN_ENTRY
    rarity_of = {}
    for (stem, weight), keys in zip(stems.items(), postings.keys, strict=True):
        frequency = float(len(keys))
        if len(keys) >= postings.most:
            frequency *= max(1.0, postings.reach / (keys[0] - keys[-1] + 1))
        frequency = min(frequency, total)
        if keys:
            rarity_of[stem] = weight * math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
    return rarity_of


def choose_candidates(stems: Mapping[str, float], postings: Postings) -> list[int]:
    """The keys of the pieces that hold the rarest stems, the best first."""
    weights = rarities(stems, postings)
    scores: defaultdict[int, float] = defaultdict(float)
    for stem, keys in zip(stems, postings.keys, strict=True):
        for key in keys:
            scores[key] += weights[stem]
    return sorted(scores, key=lambda key: (-scores[key], -key))


def ranked(weights: Mapping[str, float], pieces: Sequence[PieceRow]) -> list[Ranked]:
    """The pieces with the weights of the stems in them, the best first."""
    counted = [Counter(piece.words.split()) for piece in pieces]
    average = sum(counts.total() for counts in counted) / len(pieces) if pieces else 1
    entries = sorted({piece.entry_key for piece in pieces})
    newness = {key: 1 + NEWEST_BONUS * place / len(entries) for place, key in enumerate(entries, start=1)}
    scores = []
    for piece, counts in zip(pieces, counted, strict=True):
        longer = _K1 * (1 - _B + _B * counts.total() / average)
        score = sum(
            weight * counts[stem] * (_K1 + 1) / (counts[stem] + longer) for stem, weight in weights.items()
        )
        scores.append(score * _weight(piece) * newness[piece.entry_key])
    best: defaultdict[int, float] = defaultdict(float)
    for piece, score in zip(pieces, scores, strict=True):
        best[piece.entry_key] = max(best[piece.entry_key], score)
    following = {piece.parent_key: piece.entry_key for piece in pieces}
    scored = []
    for piece, score in zip(pieces, scores, strict=True):
        around = (piece.parent_key or 0, following.get(piece.entry_key, 0))
        scored.append(Ranked(piece, score + NEAR_SHARE * max(best.get(key, 0.0) for key in around)))
    return sorted(scored, key=lambda each: (-each.score, -each.piece.key))


def _weight(piece: PieceRow) -> float:
    if piece.type in SUMMARY_TYPES:
        return SUMMARY_WEIGHT
    return PROSE_WEIGHT if piece.role in _PROSE_ROLES else 1.0


def share_of(stems: Iterable[str], words: Iterable[str]) -> float:
    """The share of `stems` that is among `words`."""
    wanted = set(stems)
    return len(wanted & set(words)) / len(wanted) if wanted else 1.0
