"""Computing for whoever awaits it, in a process that ends when nobody does."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from coppice.service.core.worker_process import call_in_process
from coppice.service.core.workers import run_long

P = ParamSpec("P")
T = TypeVar("T")


async def in_process(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """`call_in_process`, from the event loop. A cancel ends the process."""
    return await run_long(call_in_process, function, *args, **kwargs)
