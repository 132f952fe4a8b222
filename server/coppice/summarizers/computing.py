"""Where functions are called that work on text of a conversation or of a model."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Compute(Protocol):
    """Calls a function of a module off the event loop, perhaps in another process.

    The function, its arguments, its result and what it raises can be pickled.
    """

    async def __call__(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function returns. Raises what it raises, and WorkTooLongError."""
        ...


async def in_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Computes in a thread of this process; a cancel ends the waiting, not the work."""
    return await asyncio.to_thread(function, *args, **kwargs)
