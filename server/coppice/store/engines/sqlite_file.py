"""The file of a SQLite database, which nothing but SQLite opens.

A process that closes any descriptor of a file loses every POSIX lock that it holds on the file, those of
SQLite's own descriptors too (section 2.2 of SQLite's "How To Corrupt An SQLite Database File"). So this
module looks at the file through `stat`, changes it through `chmod`, `link` and `rename`, and leaves
everything else to SQLite.
"""

import errno
import os
import sqlite3
import stat
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import quote

from coppice.errors import StorageFailedError, StoreDamagedError
from coppice.operating_system import create_file
from coppice.store.engines.checkpoints import MOST_PAGES
from coppice.store.engines.opened_files import COMPANIONS, Identity, files_of, identity_of, note_opened
from coppice.store.schema.column_types import DamagedText

_LOGS: Final = ("-wal", "-journal")
"""Those of the `COMPANIONS` that hold what belongs into the database."""

_OTHERS: Final = 0o077  # permission bits of group and others


class DatabaseFile:
    """A path, and which file was found there when it was opened."""

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._identity: Identity | None = None
        self._was_empty = False

    def open(self) -> None:
        """Notes which file is there, and takes the rights of other users away.

        Raises:
            StorageFailedError: it is no regular file.
            StoreDamagedError: it is empty, as no database is. A log beside it is moved away: SQLite would
                delete it, or write it into a backup that is put in the place of the file.
            OSError: there is no file, or its rights cannot be changed.
        """
        status = self.path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise StorageFailedError("The path of the conversation store is no regular file. Name another.")
        if status.st_size == 0:
            logs = self._put_logs_aside()
            raise StoreDamagedError(
                "The file of the conversation store is empty: what it held is gone. Restore a backup, or "
                f"delete the file to begin anew.{f' Its log is kept as {logs[0]}.' if logs else ''}"
            )
        if status.st_mode & _OTHERS:
            # SQLite gives the mode of the database to the files that it makes next to it.
            self.path.chmod(0o600)
        self.adopt()

    def adopt(self) -> None:
        """Notes which file is there, whatever it is; an empty one is one to be filled."""
        status = self.path.stat()
        self._identity = identity_of(status)
        self._was_empty = status.st_size == 0
        note_opened(self.path, self._identity)

    def check(self, **data: bool) -> None:
        """Compares the file at the path with the one that was opened, or opens it.

        `data` becomes part of the error's.

        Raises:
            StorageFailedError: the file was deleted, moved, replaced or emptied since.
        """
        if self._identity is None:
            self.open()
        try:
            status = self.path.stat()
        except FileNotFoundError:
            change = "deleted or moved"
        else:
            if identity_of(status) != self._identity:
                change = "replaced"
            elif status.st_size == 0 and not self._was_empty:
                change = "emptied"
            else:
                return
        raise StorageFailedError(
            f"The file of the conversation store was {change} while it was open. Put it back, or restart "
            "the server to work with what is there now.",
            **data,
        )

    def connect(self) -> sqlite3.Connection:
        """A connection to the file that was opened, which it has read from; never makes one.

        Raises:
            sqlite3.Error: the file cannot be opened.
            StorageFailedError: it is another file by now.
        """
        connection = connect(self.path, self._busy_seconds)
        try:
            self.check()
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute(f"PRAGMA wal_autocheckpoint = {MOST_PAGES}")
            connection.execute("PRAGMA schema_version")
        except BaseException:
            connection.close()
            raise
        return connection

    def create(self, fill: Callable[[Path], None]) -> None:
        """Makes the file with what `fill` puts into it, at once and whole; one that is there stays.

        Raises:
            StoreDamagedError: another file was at the path, and its log still is.
            OSError: the folder cannot be written.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._refuse_orphaned_log()
        new = _new_file(self.path)
        try:
            fill(new)
            # Where another process was faster, its file is as good.
            with suppress(FileExistsError):
                move_into_place(new, self.path)
        finally:
            remove(new)

    def copy_to(self, target: Path) -> None:
        """Copies the database as it is now to `target`, which is replaced, through SQLite.

        Raises:
            sqlite3.Error: either file cannot be used.
            OSError: the folder cannot be written.
        """
        new = _new_file(target)
        try:
            source, copy = connect(self.path, self._busy_seconds), connect(new, self._busy_seconds)
            try:
                source.backup(copy)
            finally:
                copy.close()
                source.close()
            new.replace(target)
        finally:
            remove(new)

    def _put_logs_aside(self) -> list[str]:
        """Renames the companions, and gives the new names."""
        time = f"{datetime.now(UTC):%Y%m%dT%H%M%S}"
        renamed = list[str]()
        for suffix in COMPANIONS:
            file = self.path.with_name(self.path.name + suffix)
            with suppress(FileNotFoundError):
                renamed.append(
                    file.rename(self.path.with_name(f"{self.path.name}.damaged-{time}{suffix}")).name
                )
        return renamed

    def _refuse_orphaned_log(self) -> None:
        """SQLite would write the log of the file that is gone into a new one, and delete it."""
        for suffix in _LOGS:
            log = self.path.with_name(self.path.name + suffix)
            # In this order: another process makes the file before the log.
            if log.exists() and log.stat().st_size and not self.path.exists():
                raise StoreDamagedError(
                    f"The file of the conversation store is gone, but its log {log.name}, with the newest "
                    "entries, is there. Put the file back, or move the log away to begin anew or to put a "
                    "backup there; then `coppice doctor --repair` takes over what was stored meanwhile."
                )


def connect(path: Path, busy_seconds: float) -> sqlite3.Connection:
    """A connection to a database that exists, without transactions of Python's own.

    Raises:
        sqlite3.Error: there is no such file, or it cannot be opened.
    """
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode=rw",
        uri=True,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.text_factory = _text
    return connection


def move_into_place(new: Path, path: Path) -> None:
    """Gives the file `new` the name `path`, which it may have besides its own; a file that is there stays.

    Raises:
        FileExistsError: there is a file at `path`.
        OSError: the folder cannot be written.
    """
    try:
        path.hardlink_to(new)
    except FileExistsError:
        raise
    except OSError as error:
        if path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from error
        # A file system without hard links. Of two processes that meet here, the later one replaces the file.
        new.rename(path)


def remove(path: Path) -> None:
    """Deletes a database that nobody has open, with its companions."""
    for file in files_of(path):
        file.unlink(missing_ok=True)


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return DamagedText(raw.decode("utf-8", "replace"))


def _new_file(path: Path) -> Path:
    """An empty file of mode 0600 next to `path`, of a name that no other process uses."""
    new = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
    os.close(create_file(new))
    return new
