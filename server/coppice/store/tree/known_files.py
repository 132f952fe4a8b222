"""Which databases a folder has held: one that is gone was moved or deleted, and is not simply new."""

from contextlib import suppress
from pathlib import Path
from typing import Final

FOLDER_NAME: Final = ".coppice-known"


class KnownFiles:
    """An empty file for each database that was opened in `folder`, of the same name."""

    def __init__(self, folder: Path) -> None:
        self._marks = folder / FOLDER_NAME

    def is_gone(self, database: Path) -> bool:
        """Whether the database was there once and is not now."""
        return not database.exists() and self._mark(database).exists()

    def note(self, database: Path) -> None:
        """Remembers an existing database. Where the folder cannot be written, nothing else fails."""
        with suppress(OSError):
            self._marks.mkdir(mode=0o700, exist_ok=True)
            self._mark(database).touch(mode=0o600)

    def _mark(self, database: Path) -> Path:
        return self._marks / database.name
