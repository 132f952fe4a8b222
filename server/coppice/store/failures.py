"""What a person is told when the database fails."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from coppice.errors import StorageFailedError

_ADVICE: Final = {
    sqlite3.SQLITE_FULL: "The disk that holds the conversation store is full. Free some space and try again.",
    sqlite3.SQLITE_BUSY: "The conversation store is locked by another program. Try again in a moment.",
    sqlite3.SQLITE_LOCKED: "The conversation store is locked by another program. Try again in a moment.",
    sqlite3.SQLITE_READONLY: "The conversation store is read-only. Allow writing to its file and folder.",
    sqlite3.SQLITE_CANTOPEN: "The conversation store cannot be opened. Check that its folder can be written.",
    sqlite3.SQLITE_PERM: "The conversation store cannot be opened. Check that its folder can be written.",
    sqlite3.SQLITE_IOERR: "Reading or writing the conversation store failed. Check the disk and its space.",
    sqlite3.SQLITE_CORRUPT: "The conversation store is damaged. Put its file aside or restore a backup.",
    sqlite3.SQLITE_NOTADB: "The file of the conversation store is no database. Put it aside and start again.",
    sqlite3.SQLITE_TOOBIG: "An entry is larger than the conversation store can hold.",
}
_UNEXPECTED: Final = "The conversation store failed unexpectedly. The log of the server says more."


@contextmanager
def translated() -> Iterator[None]:
    """Turns whatever a database driver or the file system raises inside into `StorageFailedError`."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise StorageFailedError(_sentence(error)) from error
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise StorageFailedError(f"The folder of the conversation store cannot be used: {reason}.") from error


def is_busy(error: SQLAlchemyError) -> bool:
    """Whether another connection held a lock for too long."""
    return _primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _sentence(error: SQLAlchemyError | sqlite3.Error) -> str:
    code = _primary_code(error)
    if code is not None:
        return _ADVICE.get(code, _UNEXPECTED)
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return "The connection to the database server was lost. Try again in a moment."
    return _UNEXPECTED


def _primary_code(error: SQLAlchemyError | sqlite3.Error) -> int | None:
    """SQLite's primary result code: the low byte of the extended one."""
    origin = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(origin, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None
