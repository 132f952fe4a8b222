"""Repairs a damaged SQLite store: makes a new one of all that can be read, and puts the old one aside."""

import glob
import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from coppice.errors import StorageFailedError
from coppice.operating_system import renames_open_files
from coppice.store.engines.choosing import sqlite_path
from coppice.store.engines.opened_files import COMPANIONS
from coppice.store.engines.sqlite_file import connect, move_into_place
from coppice.store.repair.damaged_tables import UNREADABLE
from coppice.store.repair.salvage import Salvage, SavedConversation
from coppice.store.schema.errors import is_busy, translated
from coppice.store.schema.records import ModelChoice, NewConversation
from coppice.store.store import Store

_IN_USE: Final = (
    "The conversation store is open in another program. Close every editor that uses it, then repair it."
)


@dataclass
class Repair:
    """What was saved, a sentence for each thing that was not, and where the damaged file is now."""

    conversations: int = 0
    entries: int = 0
    losses: list[str] = field(default_factory=list)
    put_aside: Path | None = None


def repair(url: str) -> Repair:
    """Replaces the store at `url` by what can be read of it.

    The damaged file is only read, and renamed at the end; until then everything happens on copies.

    Raises:
        StorageFailedError: it is no SQLite file, another program has it open, or the disk failed. Where
            only the last step failed, the sentence names the file that holds the repaired store.
    """
    path = sqlite_path(url)
    if path is None:
        raise StorageFailedError("Only SQLite files are repaired here; a server has tools of its own.")
    done = Repair()
    prefix = f".repair-{path.name}-"
    with translated(), tempfile.TemporaryDirectory(prefix=prefix, dir=path.parent) as folder:
        copy, new = Path(folder) / "copy.sqlite3", Path(folder) / "new.sqlite3"
        with hold(path) as held:
            if held is not None:
                _remove_abandoned(prefix, Path(folder))
            _copy(path, held, copy)
            _fill(new, copy, done)
            done.put_aside = put_aside(path, held)
        install(new, path, done.put_aside)
    return done


def left_by_repairs(folder: Path, databases: str = "*.sqlite3") -> list[Path]:
    """What repairs of databases with such names put aside in a folder, could not put in place, or left when
    they were killed.
    """
    patterns = (f".repair-{databases}-*", f"{databases}.damaged-*[0-9]", f"{databases}.repaired-*[0-9]")
    return sorted(file for pattern in patterns for file in folder.glob(pattern))


def is_in_use(path: Path) -> bool:
    """Whether another connection has the database open."""
    try:
        with hold(path):
            return False
    except StorageFailedError:
        return True


def _remove_abandoned(prefix: str, own: Path) -> None:
    """Removes the folders of repairs that were killed; the hold on the database says that none is at work."""
    for folder in own.parent.glob(f"{glob.escape(prefix)}*"):
        if folder != own:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def hold(path: Path) -> Iterator[sqlite3.Connection | None]:
    """A connection that keeps everybody else out, or None where SQLite cannot open the file.

    Raises StorageFailedError where another program has it open.
    """
    connection = connect(path, busy_seconds=0)
    try:
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            connection.execute("ROLLBACK")
        except UNREADABLE as error:
            if is_busy(error):
                raise StorageFailedError(_IN_USE) from error
            connection.close()
            yield None
        else:
            yield connection
    finally:
        connection.close()


def _copy(path: Path, held: sqlite3.Connection | None, copy: Path) -> None:
    if held is not None:
        with closing(sqlite3.connect(copy)) as target:
            held.backup(target)
        return
    # SQLite holds no lock on a file that it could not open, so that reading it here takes none away.
    shutil.copyfile(path, copy)
    _lend_schema(copy)


def _lend_schema(copy: Path) -> None:
    """Gives a copy with a ruined schema that of an empty store: their tables begin on the same pages."""
    with tempfile.TemporaryDirectory(dir=copy.parent) as folder:
        empty = Path(folder) / "empty.sqlite3"
        Store.open(f"sqlite:///{empty}", server_id="repair").close()
        source = empty.read_bytes()
    with copy.open("r+b") as file:
        for number in (1, *_children_of_first_page(source)):
            start = (number - 1) * _PAGE_BYTES
            file.seek(start)
            file.write(source[start : start + _PAGE_BYTES])
        # Two counters that differ make SQLite take the number of pages from the size of the file.
        file.seek(_VERSION_VALID_FOR)
        file.write(bytes(4))


def _children_of_first_page(content: bytes) -> list[int]:
    """The pages below the root of the schema table, which is the first page; the tree has two levels."""
    kind, cells, last = struct.unpack_from(">B2xH3xI", content, _HEADER_BYTES)
    if kind != _INTERIOR_TABLE_PAGE:
        return []
    places = struct.unpack_from(f">{cells}H", content, _HEADER_BYTES + _INTERIOR_HEADER_BYTES)
    return [*(struct.unpack_from(">I", content, place)[0] for place in places), last]


_PAGE_BYTES: Final = 4096
"""SQLite's default since 3.12; Coppice never sets another."""
_HEADER_BYTES: Final = 100
"""The header of the file, which is at the start of the first page; from SQLite's file format."""
_INTERIOR_TABLE_PAGE: Final = 5
"""The kind of a page that holds the numbers of other pages; from SQLite's file format."""
_INTERIOR_HEADER_BYTES: Final = 12
"""The header of such a page, before the places of its cells; from SQLite's file format."""
_VERSION_VALID_FOR: Final = 92
"""The offset in the header, from SQLite's file format."""


def _fill(new: Path, copy: Path, done: Repair) -> None:
    salvage = Salvage(copy)
    store = Store.open(f"sqlite:///{new}", server_id="repair", index_idle_seconds=None)
    try:
        for saved in salvage.conversations():
            _store(store, saved, done)
    finally:
        store.close()
    done.losses += salvage.losses
    if not done.conversations:
        done.losses.append("everything: no conversation can be read")


def _store(store: Store, saved: SavedConversation, done: Repair) -> None:
    row = saved.row
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    conversation = NewConversation(
        id=row["id"],
        workspace_uri=row.get("workspace_uri") or "untitled:coppice",
        created_at=row.get("created_at") or at,
        name=row.get("name"),
        parent_conversation_id=row.get("parent_conversation_id"),
        source=saved.source,
        choice=ModelChoice(row.get("model"), row.get("thinking_level")),
    )
    with store.importing(conversation, modified_at=row.get("modified_at") or at) as writer:
        for batch in saved.batches():
            writer.add(batch)
            done.entries += len(batch)
        writer.leaf(saved.leaf_id)
    done.conversations += 1
    done.losses += [f"conversation {conversation.id}: {loss}" for loss in saved.losses]


def put_aside(path: Path, held: sqlite3.Connection | None) -> Path:
    """Renames the damaged file and ends the hold on it, in this order where the system allows that."""
    aside = _named(path, "damaged")
    if held is not None and not renames_open_files():
        held.close()
    path.rename(aside)
    if held is not None:
        # Before the new file is there: the last connection deletes the log of the old one by its name.
        held.close()
    return aside


def install(new: Path, path: Path, aside: Path) -> None:
    """Puts the repaired store at `path`.

    Raises:
        StorageFailedError: that failed. The repaired store is kept under another name, and the damaged file
            is back at `path` if nothing else is there.
    """
    try:
        _move_companions(path, aside)
        move_into_place(new, path)
    except OSError as error:
        repaired = _named(path, "repaired")
        new.rename(repaired)
        if path.exists():
            reason = f"another program made {path.name} meanwhile. The damaged store is now {aside.name}."
        else:
            aside.rename(path)
            _move_companions(aside, path)
            reason = f"{error.strerror or 'unknown reason'}. The damaged store is where it was."
        raise StorageFailedError(
            f"The store was repaired, but cannot be put in place: {reason} Close every editor that uses it "
            f"and rename {repaired.name} to {path.name}."
        ) from error


def _named(path: Path, what: str) -> Path:
    return path.with_name(f"{path.name}.{what}-{datetime.now(UTC):%Y%m%dT%H%M%S}")


def _move_companions(path: Path, aside: Path) -> None:
    """A log that stayed would be applied to the new file."""
    for suffix in COMPANIONS:
        companion = path.with_name(path.name + suffix)
        if companion.exists():
            companion.rename(aside.with_name(aside.name + suffix))
