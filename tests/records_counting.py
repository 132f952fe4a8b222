"""What the readers of transcripts make of their records."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from coppice.errors import ImportFailedError
from coppice.formats.entry_file import UNKNOWN
from coppice.formats.foreign_database import rows_of
from coppice.formats.reading import open_growing, open_session
from coppice.formats.session import SessionReader
from coppice.formats.source import Source
from coppice.sources.database import DatabaseAgent
from coppice.sources.registry import AGENTS
from coppice.tree.entries import CustomEntry, MessageEntry
from coppice.tree.messages import AssistantMessage, ToolCall, ToolResultMessage

_ROWS = {
    "opencode": "SELECT message.id FROM message WHERE session_id = ?1 UNION ALL "
    "SELECT part.id FROM part WHERE session_id = ?1",
    "hermes": "SELECT id FROM messages WHERE session_id = ?1",
    "openclaw": "SELECT seq FROM transcript_events WHERE session_id = ?1",
}


def transcripts(folders: list[Path]) -> Iterator[tuple[str, SessionReader, int]]:
    """The name, the reader, and the number of records of each transcript below the folders."""
    seen: set[bytes] = set()
    for folder in folders:
        for path in sorted(folder.rglob("*.jsonl")):
            raw = path.read_bytes()
            digest = blake2b(raw).digest()
            if digest in seen:
                continue
            seen.add(digest)
            try:
                yield str(path), open_session(path), sum(1 for line in raw.splitlines() if line.strip())
            except ImportFailedError as error:
                print(f"{path}: {error}")
        for agent in AGENTS:
            if isinstance(agent, DatabaseAgent):
                yield from _in_databases(agent, folder)


def _in_databases(agent: DatabaseAgent, folder: Path) -> Iterator[tuple[str, SessionReader, int]]:
    depth = agent.files.count("/")
    for path in sorted(folder.rglob(agent.files)):
        for transcript in agent.transcripts(path.parents[depth], {}):
            reader = open_growing(Path(transcript.path), agent.format, part=transcript.part, growing=False)
            yield (
                transcript.key,
                reader,
                sum(1 for _ in rows_of(Source(path), _ROWS[agent.name], transcript.key)),
            )


@dataclass
class Counts:
    """Of `ignored` records the reader knows that they are no part of a conversation, `unknown` ones are of a
    type or form that it does not know. `calls` and `results` are ids of calls."""

    ignored: int
    unknown: int
    calls: set[str]
    results: set[str]


def counts_of(reader: SessionReader) -> Counts:
    """What a reader makes of its transcript."""
    calls: set[str] = set()
    results: set[str] = set()
    unknown = 0
    for entry in reader:
        message = entry.message if isinstance(entry, MessageEntry) else None
        unknown += isinstance(entry, CustomEntry) and entry.custom_type == UNKNOWN
        if isinstance(message, AssistantMessage):
            calls |= {block.id for block in message.content if isinstance(block, ToolCall)}
        elif isinstance(message, ToolResultMessage):
            results.add(message.tool_call_id)
    ignored = (reader.skipped - reader.unknown).total()
    return Counts(ignored, unknown + reader.unknown.total(), calls, results)
