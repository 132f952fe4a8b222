"""Sessions in the database of an agent."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from coppice.errors import ImportFailedError
from coppice.formats.foreign_database import rows_of
from coppice.sources.transcript import Beginning, Transcript

_SESSIONS: Final = """
SELECT session.id, session.parent_id, session.directory, session.time_updated,
    (SELECT max(part.time_updated) FROM part WHERE part.session_id = session.id)
FROM session
"""


@dataclass(frozen=True)
class OpencodeAgent:
    """opencode: one database for all sessions, `home/FILE`."""

    name: str = "opencode"
    title: str = "opencode"
    format: str = "opencode"
    home: str = ".local/share/opencode"
    file: str = "opencode.db"

    def root(self, environ: Mapping[str, str], folder: str | None = None) -> Path:
        """The agent's folder; `folder` is that of the user's settings."""
        if folder:
            return Path(folder).expanduser()
        data = environ.get("XDG_DATA_HOME")
        return Path(data) / "opencode" if data else Path.home() / self.home

    def transcripts(self, root: Path) -> Iterator[Transcript]:
        """The sessions that there are now; none where the database cannot be read.

        The size of each is an equal share of the database's.
        """
        path = root / self.file
        try:
            rows = [*rows_of(path, _SESSIONS)] if path.is_file() else []
            share = path.stat().st_size // len(rows) if rows else 0
        except (ImportFailedError, OSError):
            return
        for key, parent, _, updated, newest in rows:
            if not isinstance(key, str):
                continue
            modified = max((each for each in (updated, newest) if type(each) is int), default=0)
            yield Transcript(
                agent=self.name,
                key=key,
                path=str(path),
                stamp=f"{updated}:{newest}",
                size=share,
                modified=modified / 1000,
                parent=parent if isinstance(parent, str) else None,
                part=key,
            )

    def may_be_of(self, transcript: Transcript, folder: str) -> bool:
        """The place of a session says nothing."""
        del transcript, folder
        return True

    def beginning(self, transcript: Transcript) -> Beginning:
        """The folder of a session, and the one that started it. Raises OSError where it cannot be read."""
        try:
            rows = rows_of(Path(transcript.path), f"{_SESSIONS} WHERE session.id = ?", transcript.key)
            found = next(rows, None)
        except ImportFailedError as error:
            raise OSError(str(error)) from error
        cwd = None if found is None else found[2]
        return Beginning(cwd if isinstance(cwd, str) else None, transcript.parent)
