"""Choosing the identifiers that are worth most within a token budget."""

import heapq
from collections.abc import Callable, Sequence
from typing import Final

from coppice.compaction.facts.ranking import RankedIdentifier

_MOST_CANDIDATES: Final = 1_600


def pack_identifiers(
    ranked: Sequence[RankedIdentifier],
    *,
    already_in: str,
    max_tokens: int,
    count_tokens: Callable[[str], int],
) -> list[RankedIdentifier]:
    """The identifiers that together carry the most weight within about `max_tokens`, best first.

    An identifier that stands inside a longer one (a module in a dotted name, a relative path in an absolute
    one) comes for free with it, and what stands in `already_in` costs nothing and is left out. Chosen
    greedily by weight gained for each token.
    """
    candidates = [item for item in ranked[:_MOST_CANDIDATES] if item.text not in already_in]
    weight = {item.text: item.weight for item in candidates}
    inside = _containment(list(weight))
    price = {item.text: max(1, count_tokens(f" {item.text}")) for item in candidates}
    by_text = {item.text: item for item in candidates}

    covered: set[str] = set()
    chosen: list[RankedIdentifier] = []
    spent = 0

    def gain(text: str) -> float:
        return sum(weight[part] for part in inside[text] if part not in covered) / price[text]

    heap = [(-gain(text), text) for text in weight]
    heapq.heapify(heap)
    while heap and spent < max_tokens:
        _, text = heapq.heappop(heap)
        if text in covered or spent + price[text] > max_tokens:
            continue
        current = gain(text)
        if heap and -current > heap[0][0]:
            heapq.heappush(heap, (-current, text))
            continue
        spent += price[text]
        covered.update(inside[text])
        chosen.append(by_text[text])
    return [item for item in chosen if not _is_inside_another(item.text, chosen)]


def _containment(texts: list[str]) -> dict[str, list[str]]:
    """For each text, the texts that stand inside it, itself included."""
    return {text: [part for part in texts if part in text] for text in texts}


def _is_inside_another(text: str, chosen: Sequence[RankedIdentifier]) -> bool:
    return any(text in other.text and text != other.text for other in chosen)
