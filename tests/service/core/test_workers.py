"""Threads that a store's closing ends, and work that is stopped."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from waiting import PATIENCE

from coppice.service.core import workers

_STORE = "sqlite:///of-these-tests"


class _ReleasedMeanwhile(ThreadPoolExecutor):
    """Its store is closed by another thread just before it gets work."""

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        releasing = threading.Thread(target=workers.release_writers, args=[_STORE])
        releasing.start()
        releasing.join(timeout=0.2)
        return super().submit(work, *args, **kwargs)


async def test_a_write_is_done_whose_store_is_closed_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "ThreadPoolExecutor", _ReleasedMeanwhile)
    assert await workers.run_write(_STORE, int, 7) == 7


def test_what_a_stop_calls_has_been_called_when_its_block_ends() -> None:
    stopping, has_begun, may_end = workers.Stopping(), threading.Event(), threading.Event()
    order: list[str] = []

    def slow() -> None:
        has_begun.set()
        may_end.wait(PATIENCE)
        order.append("called")

    others = ThreadPoolExecutor(1)
    with stopping.calling(slow):
        stopped = others.submit(stopping.stop)
        assert has_begun.wait(PATIENCE)
        threading.Timer(0.2, may_end.set).start()
    order.append("block ended")
    stopped.result()
    assert order == ["called", "block ended"]
