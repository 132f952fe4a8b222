"""Sessions in the database of an agent."""

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from coppice.errors import ImportFailedError
from coppice.formats.foreign_database import rows_of
from coppice.sources.agent import Beginning, Transcript
from coppice.sources.watching import SETTLED_SECONDS

OPENCODE: Final = """
SELECT id, parent_id AS parent, directory AS cwd, max(time_updated, ifnull(newest, 0)) / 1000.0 AS modified,
    time_updated || ':' || ifnull(newest, '') AS stamp
FROM (SELECT *, (SELECT max(part.time_updated) FROM part WHERE part.session_id = session.id) AS newest
    FROM session)
"""

HERMES: Final = """
SELECT id, parent_session_id AS parent, cwd, ifnull(latest, started_at) AS modified,
    newest || ':' || active || ':' || ifnull(title, '') AS stamp
FROM (SELECT *,
        (SELECT max(id) FROM messages WHERE session_id = sessions.id) AS newest,
        (SELECT max(timestamp) FROM messages WHERE session_id = sessions.id) AS latest,
        (SELECT sum(active) FROM messages WHERE session_id = sessions.id) AS active
    FROM sessions)
WHERE newest IS NOT NULL
"""

OPENCLAW: Final = """
SELECT id, parent, CASE WHEN json_valid(header) THEN json_extract(header, '$.cwd') END AS cwd,
    newest / 1000.0 AS modified, last || ':' || newest || ':' || ifnull(rewritten, '') AS stamp
FROM (SELECT session_id AS id,
        (SELECT current_session_id FROM session_nodes
            WHERE session_key = ifnull(parent_session_key, spawned_by)) AS parent,
        (SELECT event_json FROM transcript_events AS event
            WHERE event.session_id = session.session_id ORDER BY seq LIMIT 1) AS header,
        (SELECT max(seq) FROM transcript_events AS event WHERE event.session_id = session.session_id) AS last,
        (SELECT max(created_at) FROM transcript_events AS event
            WHERE event.session_id = session.session_id) AS newest,
        (SELECT generation FROM transcript_rewrite_watermarks AS mark
            WHERE mark.session_id = session.session_id) AS rewritten
    FROM session_windows AS session)
WHERE last IS NOT NULL
"""


@dataclass(frozen=True)
class DatabaseAgent:
    """An agent that keeps all sessions in one database, or in a few.

    `home` is its folder in the user's own, `variable` the environment variable that names another, or with
    `below` a folder in that. `files` is the pattern of its databases in there. `sessions` gives for each
    session the columns `id`, `parent`, `cwd`, `modified` (seconds since 1970) and `stamp`.
    """

    name: str
    title: str
    home: str
    files: str
    format: str
    sessions: str
    variable: str
    below: str = ""

    def root(self, environ: Mapping[str, str], folder: str | None = None) -> Path:
        """The agent's folder; `folder` is that of the user's settings."""
        if folder:
            return Path(folder).expanduser()
        moved = environ.get(self.variable)
        return Path(moved).expanduser() / self.below if moved else Path.home() / self.home

    def transcripts(self, root: Path) -> Iterator[Transcript]:
        """The sessions that there are now; none of a database that cannot be read.

        The size of each is an equal share of the database's.
        """
        for path in sorted(root.glob(self.files)):
            try:
                rows = [*rows_of(path, self.sessions)] if path.is_file() else []
                share = path.stat().st_size // len(rows) if rows else 0
            except (ImportFailedError, OSError):
                continue
            for key, parent, _, modified, stamp in rows:
                if isinstance(key, str):
                    yield Transcript(
                        agent=self.name,
                        key=key,
                        path=str(path),
                        stamp=str(stamp),
                        size=share,
                        modified=modified if isinstance(modified, int | float) else 0,
                        parent=parent if isinstance(parent, str) else None,
                        part=key,
                    )

    def watch(self, root: Path) -> "DatabaseWatch":
        """What is in the agent's databases, look by look."""
        return DatabaseWatch(self, root)

    def may_be_of(self, transcript: Transcript, folder: str) -> bool:
        """The place of a session says nothing."""
        del transcript, folder
        return True

    def beginning(self, transcript: Transcript) -> Beginning:
        """The folder of a session, and the one that started it. Raises OSError where it cannot be read."""
        query = f"SELECT cwd FROM ({self.sessions}) WHERE id = ?"  # noqa: S608 - a constant
        try:
            row = next(rows_of(Path(transcript.path), query, transcript.key), None)
        except ImportFailedError as error:
            raise OSError(str(error)) from error
        cwd = None if row is None else row[0]
        return Beginning(cwd if isinstance(cwd, str) else None, transcript.parent)


class DatabaseWatch:
    """The sessions of an agent's databases, which are read again when one of their files has changed."""

    def __init__(self, agent: DatabaseAgent, root: Path) -> None:
        self._agent = agent
        self._root = root
        self._files: list[tuple[str, int, int]] | None = None
        self._stamps: dict[str, str] = {}

    def changed(self) -> Iterator[Transcript]:
        """At first all that there are; then those that are new or have changed."""
        files = self._now()
        if files == self._files:
            return
        newest = max((modified for _, _, modified in files), default=0)
        # What changed so shortly before may change again without another time.
        self._files = files if time.time_ns() - newest > SETTLED_SECONDS * 1e9 else None
        for transcript in self._agent.transcripts(self._root):
            if self._stamps.get(transcript.key) != transcript.stamp:
                self._stamps[transcript.key] = transcript.stamp
                yield transcript

    def ignore(self, transcript: Transcript) -> None:
        """A session costs nothing more than the database."""

    def _now(self) -> list[tuple[str, int, int]]:
        """Size and time of change of the databases and of the logs to which is written first."""
        files = []
        for path in sorted(self._root.glob(f"{self._agent.files}*")):
            if path.name.endswith("-shm"):  # a reader writes to it too
                continue
            with suppress(OSError):
                status = path.stat()
                files.append((str(path), status.st_size, status.st_mtime_ns))
        return files
