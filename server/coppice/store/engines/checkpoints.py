"""Checkpoints of SQLite's write-ahead log at quiet moments, so that few commits make them.

SQLite checkpoints in the commit that makes the log `MOST_PAGES` long, and begins the log anew with the next
write after all of it was moved. Here it is moved in a pause before that.
"""

import time
from collections.abc import Callable
from typing import Final

from typing_extensions import override

from coppice.errors import StorageFailedError
from coppice.store.engines.background import BackgroundWork

MOST_PAGES: Final = 1_000
"""Of the log, 4 MB, as SQLite has it. An append writes some 16, so that without a pause one in 62 pays for a
checkpoint. A longer log would be fewer, and would need more of the disk's reserve when it is full."""
MANY_COMMITS: Final = 16
"""After which a pause is used: an eighth of the log in appends."""
PAUSE_SECONDS: Final = 0.05
"""Without a commit: ten times what one takes, so that none is in the making."""
IDLE_SECONDS: Final = 5.0
"""Without a commit, after which even a single one is moved. The index, which waits for 2 s without an append,
has written by then."""
LOOK_SECONDS: Final = 0.2
"""Between two looks whether many commits came: a fraction of the seconds that a step of a turn takes."""


class Checkpoints(BackgroundWork):
    """Has `checkpoint` called in a pause after many commits, and when nothing is committed any more."""

    def __init__(self, checkpoint: Callable[[], None]) -> None:
        super().__init__("coppice-checkpoint")
        self._checkpoint = checkpoint
        self._commits = 0
        self._noted = 0.0

    def note(self) -> None:
        """Records a commit, by the only writer."""
        self._commits += 1
        self._noted = time.monotonic()
        self.wake()

    def forget(self) -> None:
        """What was noted needs no checkpoint: SQLite makes one when the last connection closes."""
        self._commits = 0

    @override
    def work(self) -> None:
        while self._commits and not self._stopped.is_set():
            if (seconds := self._seconds_left()) > 0:
                self._stopped.wait(seconds)
                continue
            self._commits = 0
            try:
                self._checkpoint()
            except StorageFailedError:
                # The disk is full, or the file is gone: the next write reports it.
                return

    def _seconds_left(self) -> float:
        """Until a checkpoint, if nothing more is committed, or until the next look; 0 where one is due."""
        quiet = time.monotonic() - self._noted
        if self._commits >= MANY_COMMITS:
            return PAUSE_SECONDS - quiet
        return min(LOOK_SECONDS, IDLE_SECONDS - quiet)
