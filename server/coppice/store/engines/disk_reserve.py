"""Space that is kept for deleting on a full disk.

SQLite writes what a deletion changes into the WAL first, and a checkpoint may lengthen the database before
the WAL can be cut. The first process that opens a database makes its shared memory, a file. On a full disk
nothing of this is possible, so a file next to the databases is given up for it.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from coppice.operating_system import create_file

RESERVE_NAME: Final = ".coppice-reserve"
RESERVE_BYTES: Final = 8 * 2**20
"""SQLite checkpoints a WAL of 1,000 pages of 4 kB; twice that, for a last transaction that is large."""

_LENT_BYTES: Final = 2**16
"""SQLite lengthens the shared memory of a WAL by 32 kB at a time; twice that."""

_LEAST_FREE: Final = 2 * RESERVE_BYTES
"""Free bytes below which no reserve is made: it would take what the user needs."""


class DiskReserve:
    """A file that all databases of a folder share."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / RESERVE_NAME

    def keep(self) -> None:
        """Makes the reserve if there is none and the disk has room for it; without it nothing else fails."""
        with suppress(OSError):
            if self.is_kept() or shutil.disk_usage(self._path.parent).free < _LEAST_FREE:
                return
            # A process that ended while it wrote leaves a part.
            self.give_up()
            self._write()

    def is_kept(self) -> bool:
        """Whether the file is there in its full size."""
        return self._path.exists() and self._path.stat().st_size == RESERVE_BYTES

    def lend(self) -> None:
        """Frees a small part of the space, enough to open a database. Does nothing where there is none."""
        with suppress(OSError):
            os.truncate(self._path, max(self._path.stat().st_size - _LENT_BYTES, 0))

    def give_up(self) -> None:
        """Frees the space. Does nothing where there is no reserve."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        # Random bytes: a file system that compresses would keep no space for zeros.
        block = os.urandom(2**20)
        try:
            with os.fdopen(create_file(self._path), "wb") as file:
                for _ in range(RESERVE_BYTES // len(block)):
                    file.write(block)
        except OSError:
            self.give_up()
            raise
