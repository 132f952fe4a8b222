"""Sessions in the database of an agent."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from coppice.errors import ImportFailedError
from coppice.formats.foreign_database import rows_of
from coppice.formats.source import OnRead, Source
from coppice.sources.agent import Beginning, Transcript
from coppice.sources.watching import SETTLED_SECONDS

_LEAST_SECONDS: Final = 1.0
"""Of processor time to list the sessions of a small database: a hundred times what it takes."""
_BYTES_PER_SECOND: Final = 20_000_000
"""For which there is a second more: 200 MB with 100,000 parts take 0.3 s."""
_DAY_SECONDS: Final = 86_400  # that another clock may be ahead

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
SELECT id, parent, CASE WHEN json_valid(header) THEN substr(json_extract(header, '$.cwd'), 1, 4096) END
        AS cwd,
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

    def transcripts(self, root: Path, unlisted: dict[str, str]) -> Iterator[Transcript]:
        """The sessions that there are now. For a database that cannot be read `unlisted` gets the reason.

        The size of each is an equal share of the database's.
        """
        for path in sorted(root.glob(self.files)):
            try:
                size = path.stat().st_size
                rows = [*rows_of(Source(path, _time_limit(size)), self.sessions)] if path.is_file() else []
            except OSError:
                continue
            except ImportFailedError as error:
                unlisted[str(path)] = str(error)
                continue
            for key, parent, cwd, modified, stamp in rows:
                if isinstance(key, str):
                    yield Transcript(
                        agent=self.name,
                        key=key,
                        path=str(path),
                        stamp=str(stamp),
                        size=size // len(rows),
                        modified=_time(modified),
                        parent=parent if isinstance(parent, str) else None,
                        part=key,
                        cwd=cwd if isinstance(cwd, str) else None,
                    )

    def watch(self, root: Path) -> "DatabaseWatch":
        """What is in the agent's databases, look by look."""
        return DatabaseWatch(self, root)

    def may_be_of(self, transcript: Transcript, folder: str) -> bool:
        """The place of a session says nothing."""
        del transcript, folder
        return True

    def beginning(self, transcript: Transcript) -> Beginning:
        """The folder of a session, and the one that started it."""
        return Beginning(transcript.cwd, transcript.parent)

    def parts(self, transcript: Transcript, on_read: OnRead) -> Iterable[Transcript]:
        """A sub-agent has a session of its own."""
        del transcript, on_read
        return ()


def _time_limit(size: int) -> OnRead:
    """Raises ImportFailedError when the sessions of a database of this size should have been listed."""
    end = time.thread_time() + _LEAST_SECONDS + size / _BYTES_PER_SECOND

    def check(*_: int) -> None:
        if time.thread_time() > end:
            raise ImportFailedError("Listing its sessions takes too long.")

    return check


def _time(modified: object) -> float:
    """Seconds since 1970; 0 for what can be no time of a change."""
    is_time = isinstance(modified, int | float) and 0 <= modified <= time.time() + _DAY_SECONDS
    return cast("float", modified) if is_time else 0


class DatabaseWatch:
    """The sessions of an agent's databases, which are read again when one of their files has changed."""

    def __init__(self, agent: DatabaseAgent, root: Path) -> None:
        self.unlisted: dict[str, str] = {}
        self._agent = agent
        self._root = root
        self._files: list[tuple[str, int, int]] | None = None
        self._stamps: dict[str, str] = {}

    def changed(self) -> Iterator[Transcript]:
        """At first all that there are; then those that are new or have changed."""
        self.unlisted = {}
        files = self._now()
        if files == self._files:
            return
        newest = max((modified for _, _, modified in files), default=0)
        # What changed so shortly before may change again without another time.
        self._files = files if time.time_ns() - newest > SETTLED_SECONDS * 1e9 else None
        for transcript in self._agent.transcripts(self._root, self.unlisted):
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
