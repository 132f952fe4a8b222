"""What the readers make of transcripts: `python tests/benchmarks/records_understood.py FOLDER…`.

Session files and agents' databases below the folders are read. Printed by format: transcripts, records, those
that are no part of a conversation, those of a type or form that the reader does not know, calls of tools,
calls without a result, and results without a call. Copies of a transcript count once.
"""

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from coppice.errors import ImportFailedError
from coppice.formats.entry_file import UNKNOWN
from coppice.formats.foreign_database import rows_of
from coppice.formats.reading import open_growing, open_session
from coppice.formats.session import SessionReader
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
_COLUMNS = ("transcripts", "records", "no conversation", "unknown", "calls", "no result", "no call")
_LEFT_OUT = re.compile(r": (\d+) records of the unknown type")


def main(folders: list[Path]) -> None:
    """Print the table, and what was not understood."""
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for name, reader, records in _transcripts(folders):
        counted = _counted(reader)
        totals[reader.format] += counted + Counter({"transcripts": 1, "records": records})
        if counted["unknown"] or counted["no call"]:
            print(f"{name}: {reader.warnings}")
    print(f"| format | {' | '.join(_COLUMNS)} |\n|{'---|' * (len(_COLUMNS) + 1)}")
    for format_, total in sorted(totals.items()):
        print(f"| {format_} | {' | '.join(f'{total[each]:,}' for each in _COLUMNS)} |")


def _transcripts(folders: list[Path]) -> Iterator[tuple[str, SessionReader, int]]:
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
        for found in agent.transcripts(path.parents[depth]):
            reader = open_growing(Path(found.path), agent.format, part=found.part, growing=False)
            yield found.key, reader, sum(1 for _ in rows_of(path, _ROWS[agent.name], found.key))


def _counted(reader: SessionReader) -> "Counter[str]":
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
    unknown += sum(int(match[1]) for each in reader.warnings if (match := _LEFT_OUT.search(each)))
    return Counter(
        {
            "no conversation": sum(reader.skipped.values()),
            "unknown": unknown,
            "calls": len(calls),
            "no result": len(calls - results),
            "no call": len(results - calls),
        }
    )


if __name__ == "__main__":
    main([Path(each) for each in sys.argv[1:]])
