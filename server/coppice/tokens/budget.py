"""Taking what fits a budget."""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def leading(items: Iterable[T], budget: int, cost: Callable[[T], int]) -> list[T]:
    """The first of `items` that together cost at most `budget`, up to the first one that does not fit."""
    taken: list[T] = []
    for item in items:
        budget -= cost(item)
        if budget < 0:
            break
        taken.append(item)
    return taken
