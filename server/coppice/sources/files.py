"""Session files in the folders of an agent: which there are, and what their first records say."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from glob import escape
from itertools import islice
from pathlib import Path
from typing import Any, Final

from coppice.errors import ImportFailedError
from coppice.formats.lines import BOM, UnusableLineError, parse_object, text_at
from coppice.formats.source import OnRead, Source
from coppice.sources.agent import Beginning, Transcript
from coppice.sources.watching import FolderWatch

HEAD_BYTES: Final = 512 * 1024
"""Of a transcript, in which its folder is looked for. The first records of an agent are long."""

HEAD_RECORDS: Final = 40
"""Records in which the folder is looked for. Six recorded sessions have it in their first three."""
_PATH_BYTES: Final = 4096  # PATH_MAX of Linux
_DEPTH: Final = 6  # folders below the root; Codex has a folder a day
_SESSION_CHARS: Final = 8  # of a session's id, in the name of Gemini CLI's file
_NO_WORD: Final = re.compile(r"[^A-Za-z0-9]")
_FILES: Final = 200_000  # transcripts of an agent at most: a look at them computes six seconds


@dataclass(frozen=True)
class FileAgent:
    """An agent that writes a file for each session.

    `home` is its folder in the user's own, `variable` the environment variable that names another. In that
    folder `folders` hold sessions, in files whose names `pattern` matches; its group is the session's key.
    `names_folders`: each lies in a folder that is named after the one in which the session worked.
    `key_from_folder`: the key is the name of the file's folder.
    `id_in_header`: the key is the name of the file, and the agent's own id of the session is in its header.
    """

    name: str
    title: str
    home: str
    folders: tuple[str, ...]
    pattern: re.Pattern[str]
    variable: str | None
    format: str
    names_folders: bool = False
    key_from_folder: bool = False
    id_in_header: bool = False

    def root(self, environ: Mapping[str, str], folder: str | None = None) -> Path:
        """The agent's folder; `folder` is that of the user's settings."""
        moved = folder or (environ.get(self.variable) if self.variable else None)
        return Path(moved).expanduser() if moved else Path.home() / self.home

    def watch(self, root: Path) -> "FileWatch":
        """What is there below the agent's folder, look by look."""
        return FileWatch(self, root)

    def may_be_of(self, transcript: Transcript, folder: str) -> bool:
        """False where the place of a transcript shows that its session did not begin in `folder`."""
        return not self.names_folders or f"{os.sep}{_NO_WORD.sub('-', folder)}{os.sep}" in transcript.path

    def beginning(self, transcript: Transcript) -> Beginning:
        """What the first records say. Raises ImportFailedError where the file cannot be read."""
        with Source(Path(transcript.path)).open() as file:
            head = file.read(HEAD_BYTES)
        records = (line for line in head.removeprefix(BOM).split(b"\n") if line.strip())
        for raw in islice(records, HEAD_RECORDS):
            try:
                value, _ = parse_object(raw)
            except UnusableLineError:
                continue
            described = _described(value)
            cwd = text_at(described, "cwd")
            if cwd:
                return Beginning(cwd, _spawned_by(described) or transcript.parent)
        return _named_beside(Path(transcript.path), transcript.parent)

    def parts(self, transcript: Transcript, on_read: OnRead) -> Iterable[Transcript]:
        """A sub-agent has a file of its own."""
        del transcript, on_read
        return ()


class FileWatch:
    """The transcripts of an agent that writes files. A folder that cannot be read has none."""

    def __init__(self, agent: FileAgent, root: Path) -> None:
        self.unlisted: Mapping[str, str] = {}
        self._agent = agent
        folders = [str(root / folder) for folder in agent.folders]
        self._watch = FolderWatch(folders, agent.pattern.fullmatch, _DEPTH, _FILES)

    def changed(self) -> Iterator[Transcript]:
        """At first all that there are; then those that are new or have changed."""
        for path, status in self._watch.changed():
            name = path.rsplit(os.sep, 2)
            match = self._agent.pattern.fullmatch(name[2])
            assert match is not None  # noqa: S101 - what is watched
            yield Transcript(
                agent=self._agent.name,
                key=name[1] if self._agent.key_from_folder else match[1],
                path=path,
                stamp=f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}",
                size=status.st_size,
                modified=status.st_mtime,
                parent=_session_of(path),
                id_in_header=self._agent.id_in_header,
            )

    def ignore(self, transcript: Transcript) -> None:
        """Looks at it no more."""
        self._watch.ignore(transcript.path)


def _session_of(path: str) -> str | None:
    """The session in whose folder the transcript of a sub-agent lies: `SESSION/subagents/agent-ID.jsonl`."""
    folders = path.rsplit(os.sep, 3)
    return folders[1] if folders[2:3] == ["subagents"] else None


def _described(value: dict[str, Any]) -> dict[str, Any]:
    """Where the record of an agent may name the folder: Codex's `payload`, Copilot's `data.context`."""
    for names in (("payload",), ("data", "context")):
        content: Any = value
        for name in names:
            content = content.get(name) if isinstance(content, dict) else None
        if isinstance(content, dict):
            return content
    return value


def _named_beside(path: Path, parent: str | None) -> Beginning:
    """The folder that Gemini CLI writes into a file next to its folder `chats`.

    The sub-agents of a session have a folder in there with its id, of which the name of the session's file
    has the beginning. It has a second file where it was resumed, which stays empty.
    """
    chats = path.parent
    if chats.parent.name == "chats":
        session, chats = chats.name, chats.parent
        files = chats.glob(f"session-*-{escape(session[:_SESSION_CHARS])}.jsonl")
        parent = min((each.stem for each in files), default=None)
    try:
        with Source(chats.parent / ".project_root").open() as file:
            return Beginning(file.read(_PATH_BYTES).decode().strip() or None, parent)
    except (ImportFailedError, UnicodeDecodeError):
        return Beginning(None, parent)


def _spawned_by(payload: dict[str, Any]) -> str | None:
    """The thread that started a Codex thread: `source: {"subagent": {"thread_spawn": {…}}}`."""
    value: Any = payload.get("source")
    for name in ("subagent", "thread_spawn"):
        value = value.get(name) if isinstance(value, dict) else None
    return text_at(value, "parent_thread_id") if isinstance(value, dict) else None
