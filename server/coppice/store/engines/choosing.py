"""Which database a storage URL names."""

from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from coppice.errors import StorageFailedError
from coppice.store.engines.engine import Database
from coppice.store.engines.sqlite import SqliteDatabase

_SQLITE = ("sqlite", "sqlite+pysqlite")
_POSTGRES = "postgresql+psycopg"


def database(url: str, busy_seconds: float) -> Database:
    """The database that `url` names.

    Raises:
        StorageFailedError: the URL is none of ours, or its driver is not installed.
    """
    parsed = _parsed(url)
    if parsed is not None and parsed.drivername in _SQLITE and parsed.database:
        return SqliteDatabase(Path(parsed.database), busy_seconds)
    if parsed is not None and parsed.drivername == _POSTGRES:
        return _postgres(parsed, busy_seconds)
    raise StorageFailedError("A storage URL starts with sqlite:/// or postgresql+psycopg://.")


def name_of(url: str) -> str:
    """The store at `url` for people: a file's name, or a server's host and database; never a credential."""
    parsed = _parsed(url)
    if parsed is None:
        return "a store"
    if parsed.drivername in _SQLITE:
        return Path(parsed.database or "").name
    return f"the database {parsed.database or ''} on {parsed.host or 'the local server'}"


def sqlite_path(url: str) -> Path | None:
    """The file that `url` names, None where it names no file."""
    parsed = _parsed(url)
    return Path(parsed.database) if parsed and parsed.drivername in _SQLITE and parsed.database else None


def is_missing(url: str) -> bool:
    """Whether opening the store at `url` would have to make its file."""
    parsed = _parsed(url)
    if parsed is None or parsed.drivername not in _SQLITE:
        return False
    return not Path(parsed.database or "").is_file()


def _parsed(url: str) -> URL | None:
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        # Their messages may quote a password that makes the URL ambiguous.
        return None


def _postgres(url: URL, busy_seconds: float) -> Database:
    # Most users have no server, and need neither this module nor its driver.
    from coppice.store.engines.postgres import PostgresDatabase  # noqa: PLC0415

    try:
        return PostgresDatabase(url, busy_seconds)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError):
        raise StorageFailedError(
            "The storage URL cannot be used. For PostgreSQL install the extra `postgres`."
        ) from None
