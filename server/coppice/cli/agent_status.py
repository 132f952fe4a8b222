"""`coppice status`: which agents are connected, and what came of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from coppice.agents.connecting import Connections
from coppice.agents.connector import Connector
from coppice.agents.hook_log import Kind, Note, notes
from coppice.agents.program import Program
from coppice.agents.registry import CONNECTORS
from coppice.cli.connect import connections_folder
from coppice.cli.plain import counted, minute_of, plain_line
from coppice.cli.running import serving, workspace_uri
from coppice.cli.terminal import write_json, write_text
from coppice.formats.session import time_of
from coppice.service.conversations.looking import FollowedTranscript

_NOTE_CHARS: Final = 300  # characters of a line of the log: all kinds of what was lost

_NOTES: Final = {
    "lastCompaction": "last compaction",
    "lastBranchSummary": "last branch summary",
    "failure": "failed since",
}


async def show_status(workspace: Path | None, *, as_json: bool) -> None:
    """Print for each agent whether it is installed and connected, when it was last seen, how far its
    transcripts are read, and what its last compaction was given.
    """
    connections, program = Connections(connections_folder()), Program.installed()
    async with serving(workspace_uri(workspace)) as service:
        listed = await service.following.transcripts()
    transcripts = [each for each in listed if not each.reading.forgotten]
    rows = [
        _row(
            connector,
            [each for each in transcripts if each.agent.name == connector.name],
            is_connected=connections.is_connected(edits),
            is_recorded=connections.is_recorded(connector.name, edits),
        )
        for connector, edits in ((each, each.edits(program)) for each in CONNECTORS)
    ]
    if as_json:
        write_json({"agents": rows})
        return
    for row in rows:
        _show(row)


def _row(
    connector: Connector, own: Sequence[FollowedTranscript], *, is_connected: bool, is_recorded: bool
) -> dict[str, Any]:
    written = notes(connector.name)
    failure = written[-1:] if written and written[-1].kind == "failure" else []
    seen = max((each.reading.modified for each in own), default=0.0)
    problems = connector.problems() if is_connected else []
    if is_recorded and not is_connected:
        problems = [f"Its files are not as this version writes them: run `coppice connect {connector.name}`."]
    return {
        "agent": connector.name,
        "title": connector.title,
        "installed": connector.is_installed(),
        "connected": is_connected,
        "outdated": is_recorded and not is_connected,
        "problems": problems,
        "transcripts": len(own),
        "waiting": sum(not each.is_current for each in own),
        "unreadable": sum(each.reading.problem is not None for each in own),
        "lastSeen": time_of(seen) if seen else None,
        "lastReading": max((each.reading.read_at or "" for each in own), default="") or None,
        "lastCompaction": _last(written, "compaction"),
        "lastBranchSummary": _last(written, "branch"),
        "failure": _last(failure, "failure"),
    }


def _last(written: Sequence[Note], kind: Kind) -> dict[str, str] | None:
    return next(({"at": each.at, "text": each.text} for each in reversed(written) if each.kind == kind), None)


def _show(row: dict[str, Any]) -> None:
    parts = [_state(row)]
    if row["transcripts"]:
        parts.append(f"last seen {minute_of(row['lastSeen'])}")
        parts.append(f"{counted(row['transcripts'], 'transcript')}, {_progress(row)}")
    elif row["installed"]:
        parts.append("0 transcripts")
    write_text(f"{row['title']}: {'; '.join(parts)}")
    for sentence in row["problems"]:
        write_text(f"  {sentence}")
    for key, title in _NOTES.items():
        if row[key] is not None:
            write_text(f"  {title}: {minute_of(row[key]['at'])} {plain_line(row[key]['text'], _NOTE_CHARS)}")


def _state(row: dict[str, Any]) -> str:
    if row["outdated"]:
        return "connection incomplete"
    return "connected" if row["connected"] else "not connected" if row["installed"] else "not installed"


def _progress(row: dict[str, Any]) -> str:
    unreadable = f", {row['unreadable']:,} unreadable" if row["unreadable"] else ""
    if not row["waiting"]:
        return f"all up to date{unreadable}"
    return f"{row['waiting']:,} to be read at the next search{unreadable}"
