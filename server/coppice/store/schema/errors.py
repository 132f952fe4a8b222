"""Database failures as errors with a sentence for a person."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from coppice.errors import StorageFailedError, StoreDamagedError

LOCKED: Final = "The conversation store is locked by another program. Try again in a moment."
DAMAGED: Final = (
    "The conversation store is damaged here. Run `coppice doctor --repair`: it saves what can be read."
)
_TOO_BIG: Final = "An entry is larger than the conversation store can hold."
_ADVICE: Final = {
    sqlite3.SQLITE_FULL: "The disk that holds the conversation store is full. Free some space and try again.",
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_READONLY: "The conversation store is read-only. Allow writing to its file and folder.",
    sqlite3.SQLITE_CANTOPEN: "The conversation store cannot be opened. Check that its folder can be written.",
    sqlite3.SQLITE_PERM: "The conversation store cannot be opened. Check that its folder can be written.",
    sqlite3.SQLITE_IOERR: "Reading or writing the conversation store failed. Check the disk and its space.",
    sqlite3.SQLITE_TOOBIG: _TOO_BIG,
}
_UNWRITABLE: Final = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
)
# PostgreSQL's error codes (appendix A of its manual), by their beginnings; the longer ones first.
_SERVER_ADVICE: Final = {
    "53100": "The disk of the database server is full. Free some space there and try again.",
    "53300": "The database server has no connection left for us. Close some clients or allow more.",
    "55P03": LOCKED,
    "25006": "The database server takes no changes: it is read-only or a standby. Name the primary one.",
    "42501": "The user of storage.url may not do that in the database. Grant it the right to create tables.",
    "3D000": "The database that storage.url names does not exist. Create it on the server.",
    "3F000": "The schema that storage.url names does not exist. Create it in the database.",
    "54": _TOO_BIG,
    "28": "The database server refused the user or the password of storage.url. Correct them.",
    "57P": "The database server is shutting down or starting. Try again in a moment.",
}
_UNREACHABLE: Final = (
    "The database server cannot be reached, or it refuses the database, the user or the password of "
    "storage.url. Check that it runs and that storage.url is right."
)
_LOST: Final = "The connection to the database server was lost. Try again in a moment."
_UNEXPECTED: Final = "The conversation store failed unexpectedly. See the log of the server for details."
# serialization_failure, deadlock_detected, unique_violation: another writer was faster.
_CONFLICTS: Final = ("40001", "40P01", "23505")
# invalid_parameter_value: pg_xact_status raises it for a number that no transaction has had
_NO_TRANSACTION: Final = "22023"
# connection exceptions, cannot_connect_now, crash_shutdown, admin_shutdown
_LOST_CODES: Final = ("08", "57P01", "57P02", "57P03")


@contextmanager
def translated() -> Iterator[None]:
    """Turns whatever a database driver or the file system raises inside into `StorageFailedError`."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        if is_damage(error):
            raise StoreDamagedError(DAMAGED) from error
        raise StorageFailedError(_sentence(error)) from error
    except UnicodeDecodeError as error:
        # sqlite3 fails so on a message about damage that quotes what it found.
        raise StoreDamagedError(DAMAGED) from error
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise StorageFailedError(f"The folder of the conversation store cannot be used: {reason}.") from error


def is_damage(error: Exception) -> bool:
    """Whether a SQLite file does not hold what SQLite wrote into it."""
    return _primary_code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_busy(error: Exception) -> bool:
    """Whether another connection to a SQLite file held a lock for too long."""
    return _primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_full(error: BaseException | None) -> bool:
    """Whether SQLite had no room on the disk; also of the `StorageFailedError` made of that."""
    if isinstance(error, StorageFailedError):
        error = error.__cause__
    return isinstance(error, Exception) and _primary_code(error) == sqlite3.SQLITE_FULL


def is_unwritable(error: StorageFailedError) -> bool:
    """Whether SQLite could not write to the disk, from which it may still read."""
    cause = error.__cause__
    return isinstance(cause, Exception) and _primary_code(cause) in _UNWRITABLE


def is_conflict(error: Exception) -> bool:
    """Whether a transaction that a server undid may succeed when it is done again."""
    return _state(error) in _CONFLICTS


def is_unknown_transaction(error: Exception) -> bool:
    """Whether the server knows nothing of a transaction whose outcome it was asked for."""
    return _state(error) == _NO_TRANSACTION


def is_lost_connection(error: Exception) -> bool:
    """Whether a server hung up, or never answered."""
    if not isinstance(error, DBAPIError):
        return False
    state = _state(error)
    # An error without a code does not come from the server but from the way to it.
    away = state is None and isinstance(error, OperationalError) and not isinstance(error.orig, sqlite3.Error)
    return error.connection_invalidated or away or (state or "").startswith(_LOST_CODES)


def _sentence(error: SQLAlchemyError | sqlite3.Error) -> str:
    code, state = _primary_code(error), _state(error)
    if isinstance(_origin(error), sqlite3.Error):
        return _UNEXPECTED if code is None else _ADVICE.get(code, _UNEXPECTED)
    if state is not None:
        advices = (advice for begins, advice in _SERVER_ADVICE.items() if state.startswith(begins))
        return next(advices, _LOST if is_lost_connection(error) else _UNEXPECTED)
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return _LOST
    return _UNREACHABLE if is_lost_connection(error) else _UNEXPECTED


def _origin(error: Exception) -> BaseException | None:
    """The driver's own error."""
    return error.orig if isinstance(error, DBAPIError) else error


def _primary_code(error: Exception) -> int | None:
    """SQLite's primary result code: the low byte of the extended one.

    Shared memory that cannot be lengthened is a full disk.
    """
    code = getattr(_origin(error), "sqlite_errorcode", None)
    if code == sqlite3.SQLITE_IOERR_SHMSIZE:
        return sqlite3.SQLITE_FULL
    return code & 0xFF if isinstance(code, int) else None


def _state(error: Exception) -> str | None:
    """PostgreSQL's code of the error, five characters."""
    state = getattr(error.orig, "sqlstate", None) if isinstance(error, DBAPIError) else None
    return state if isinstance(state, str) else None
