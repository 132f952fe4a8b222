"""Work in the background: by one thread at a time, and again when it was asked for meanwhile."""

import threading

from typing_extensions import override
from waiting import PATIENCE

from coppice.store.engines.background import BackgroundWork


class Held(BackgroundWork):
    """Each round ends when the test lets it."""

    def __init__(self) -> None:
        super().__init__("coppice-test")
        self.rounds = 0
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Semaphore(0)

    @override
    def work(self) -> None:
        self.rounds += 1
        self.begun.release()
        assert self.may_end.acquire(timeout=PATIENCE)


def test_what_is_asked_for_while_it_is_done_is_done_once_more() -> None:
    held = Held()
    held.wake()
    assert held.begun.acquire(timeout=PATIENCE)
    held.wake()
    held.wake()
    held.may_end.release(2)
    held.wait()
    assert held.rounds == 2
    held.may_end.release()
    held.wake()
    held.wait()
    assert held.rounds == 3


def test_what_was_stopped_is_begun_no_more() -> None:
    held = Held()
    held.wake()
    assert held.begun.acquire(timeout=PATIENCE)
    held.wake()
    stopping = threading.Thread(target=held.stop)
    stopping.start()
    assert held._stopped.wait(PATIENCE)
    held.may_end.release(2)
    stopping.join(PATIENCE)
    held.wake()
    held.wait()
    assert held.rounds == 1
