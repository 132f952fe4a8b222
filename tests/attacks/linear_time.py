"""Whether something takes linear time: measured on small and large input, and again where it seems not."""

import gc
import time
from collections.abc import Callable
from typing import Final, TypeVar

SMALL, LARGE = 4, 16
RUNS: Final = 3
"""Of which the fastest counts."""
FAST_SECONDS: Final = 0.15
"""At 16 times the size nothing this fast is more than linear."""
MAX_RATIO: Final = 9.0
"""Of the times of the large and the small size: it is 4 where time is linear, 16 where it is quadratic."""

Input = TypeVar("Input")


def assert_linear(name: str, use: Callable[[Input], object], sized: Callable[[int], Input]) -> None:
    """`sized` makes an input of so many times a size. Processor time counts.

    The large size is measured again only where it seems to take too long: it takes most of the time.
    """
    large = float("inf")
    for _ in range(RUNS):
        large = min(large, _seconds(use, sized(LARGE)))
        if large < FAST_SECONDS:
            return
        small = min(_seconds(use, sized(SMALL)) for _ in range(RUNS))
        if large <= MAX_RATIO * max(small, FAST_SECONDS / 4):
            return
    raise AssertionError(name, small, large)


def _seconds(use: Callable[[Input], object], given: Input) -> float:
    """Without the collector of garbage, whose time is that of all objects of the process (as `timeit`)."""
    gc.disable()
    try:
        began = time.process_time()
        use(given)
        return time.process_time() - began
    finally:
        gc.enable()
