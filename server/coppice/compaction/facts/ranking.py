"""Which identifiers the work will need again, most likely first.

The measure is a logistic model with few, general signals. Its figures were fitted on cut points of three
recorded sessions and rounded: what the assistant itself wrote lately counts most, then the user's words,
then in how many messages a name stands, then its kind. A name that only a tool printed counts little.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from coppice.compaction.facts.identifiers import Kind, identifiers_in
from coppice.compaction.facts.passages import Passage, Source

_HALF_AGE_CHARS: Final = 20_000
_OWN: Final[Mapping[Source, float]] = {
    Source.ASSISTANT: 1.0,
    Source.THINKING: 1.0,
    Source.CHANGE: 1.0,
    Source.CALL: 0.7,
    Source.SUMMARY: 1.0,
}
_PRIOR: Final[Mapping[Kind, float]] = {
    Kind.PATH: 1.4,
    Kind.FLAG: 0.5,
    Kind.VARIABLE: 0.5,
    Kind.NAME: 0.1,
    Kind.TYPE: 1.0,
    Kind.ID: -0.2,
    Kind.ADDRESS: -0.2,
    Kind.COMPOUND: -0.9,
    Kind.VALUE: -1.1,
    Kind.HASH: -1.9,
}
_INTERCEPT: Final = -2.5
_OWN_FACTOR: Final = 1.06
_USER_FACTOR: Final = 0.4
_SPREAD_FACTOR: Final = 0.37
_KIN_FACTOR: Final = 0.8
_SHARPNESS: Final = 1.5
_SUMMARY_SPREAD: Final = 2


@dataclass(frozen=True, slots=True)
class RankedIdentifier:
    """`weight` grows with the likelihood of being needed again, 0..1; `messages` is how many name it."""

    text: str
    kind: Kind
    weight: float
    messages: int


@dataclass(slots=True)
class _Signals:
    kind: Kind
    own: float = 0.0
    user: float = 0.0
    messages: set[int] = field(default_factory=set)
    in_summary: bool = False


def rank_identifiers(passages: Iterable[Passage]) -> list[RankedIdentifier]:
    """Every identifier in `passages` (oldest first), the likeliest to be needed again first."""
    signals = _signals_of(list(passages))
    kin = _use_of_kin(signals)
    ranked = [
        RankedIdentifier(text, signal.kind, _weight(signal, kin.get(text, 0.0)), max(1, len(signal.messages)))
        for text, signal in signals.items()
    ]
    return sorted(ranked, key=lambda item: (-item.weight, item.text))


def _signals_of(passages: list[Passage]) -> dict[str, _Signals]:
    signals: dict[str, _Signals] = {}
    age = 0
    for passage in reversed(passages):
        freshness = 1 / (1 + age / _HALF_AGE_CHARS)
        age += len(passage.text)
        for text, kind in dict.fromkeys(identifiers_in(passage.text)):
            signal = signals.setdefault(text, _Signals(kind))
            signal.messages.add(passage.index)
            signal.own += _OWN.get(passage.source, 0.0) * freshness
            if passage.source is Source.USER:
                signal.user += freshness
            elif passage.source is Source.SUMMARY:
                signal.in_summary = True
    return signals


def _use_of_kin(signals: Mapping[str, _Signals]) -> dict[str, float]:
    """For a path, the use of the same file under a longer or shorter path."""
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for text, signal in signals.items():
        if signal.kind is Kind.PATH:
            by_name[text.rpartition("/")[2]].append(text)
    kin: dict[str, float] = {}
    for paths in by_name.values():
        for path in paths if len(paths) <= 40 else ():  # noqa: PLR2004 - a name like index.js says nothing
            uses = [
                signals[other].own
                for other in paths
                if other != path and (path.endswith(other) or other.endswith(path))
            ]
            kin[path] = max(uses, default=0.0)
    return kin


def _weight(signal: _Signals, kin: float) -> float:
    spread = len(signal.messages) + (_SUMMARY_SPREAD if signal.in_summary else 0)
    logit = (
        _INTERCEPT
        + _OWN_FACTOR * math.log1p(4 * signal.own)
        + _USER_FACTOR * math.log1p(4 * signal.user)
        + _KIN_FACTOR * math.log1p(4 * kin)
        + _SPREAD_FACTOR * math.log1p(spread)
        + _PRIOR[signal.kind]
    )
    return float((1 / (1 + math.exp(-logit))) ** _SHARPNESS)
