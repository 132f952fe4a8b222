"""Which files are databases of this process, so that nothing but SQLite opens them; see sqlite_file.py."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from coppice.operating_system import is_locked_by_descriptors, is_open_to_write

COMPANIONS: Final = ("-wal", "-shm", "-journal")
"""The suffixes of the files that SQLite keeps next to a database."""

Identity = tuple[int, int]
"""A file whatever its name is: its device and its inode."""


def note_opened(path: Path, identity: Identity) -> None:
    """Records that a database was opened at `path`."""
    _OPENED[identity] = path


def is_opened(path: Path) -> bool:
    """Whether the file, under whatever name, is a database of this process, or one of its companions.

    No such file may be opened by anything but SQLite, for reading either. A database counts as long as it is
    at the path where it was opened, and wherever it is while this process has it open to read and to write.
    """
    try:
        identity = identity_of(path.stat())
    except OSError:
        return False
    return identity in _open_descriptors() or any(
        identity in _identities_at(database) for database in set(_OPENED.values())
    )


def identity_of(status: os.stat_result) -> Identity:
    """The identity of a file."""
    return status.st_dev, status.st_ino


def files_of(database: Path) -> list[Path]:
    """The paths of a database and of its companions, whether they are there or not."""
    return [database.with_name(database.name + suffix) for suffix in ("", *COMPANIONS)]


def _identities_at(database: Path) -> set[Identity]:
    identities = set()
    for file in files_of(database):
        with suppress(OSError):
            identities.add(identity_of(file.stat()))
    return identities


def _open_descriptors() -> set[Identity]:
    """The files that this process has open to read and to write, as SQLite has its own and nothing else has.

    Looks at the descriptors and opens none of the files. None where locks do not depend on them.
    """
    identities: set[Identity] = set()
    if not is_locked_by_descriptors():
        return identities
    for name in Path("/dev/fd").iterdir():
        descriptor = int(name.name)
        with suppress(OSError):
            if is_open_to_write(descriptor):
                identities.add(identity_of(os.fstat(descriptor)))
    return identities


_OPENED: Final[dict[Identity, Path]] = {}
