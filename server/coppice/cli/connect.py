"""`coppice connect` and `coppice status`: agents that search their history through Coppice."""

import difflib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import typer

from coppice.agents.connecting import Change, Connections
from coppice.agents.connector import Connector
from coppice.agents.hook_log import last_note
from coppice.agents.jsonc import ConfigurationError
from coppice.agents.program import Program
from coppice.agents.registry import CONNECTORS, NAMES
from coppice.cli.exits import ExitCode, UsageError
from coppice.cli.plain import plain, plain_line
from coppice.cli.running import serving, workspace_uri
from coppice.cli.terminal import console, print_error, write_json, write_text
from coppice.directories import config_directory

_NOTE_CHARS: Final = 200  # characters of a line of the log: two lines of a terminal
_TIME_CHARS: Final = 16  # characters of an ISO time up to the minute


async def connect_agents(
    names: Sequence[str], *, remove: bool, dry_run: bool, everything: bool, as_json: bool
) -> ExitCode:
    """Connect the named agents, or take that back; without names ask at a terminal which."""
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise UsageError(f"{plain_line(unknown[0], 80)!r} is no agent; there are {', '.join(NAMES)}.")
    if names and everything:
        raise UsageError("Name agents, or give --all.")
    connections, program = Connections(_folder()), Program.installed()
    chosen = [each for each in CONNECTORS if each.name in names]
    if not names:
        chosen = [each for each in CONNECTORS if _is_meant(each, connections, program, remove=remove)]
    asks = not names and not everything and not dry_run
    if asks and not sys.stdin.isatty():
        raise UsageError("Name the agents, or give --all.")
    if not chosen and not as_json:
        console().print("No agent is connected." if remove else f"None of {', '.join(NAMES)} is installed.")
    rows, failed = [], False
    for connector in chosen:
        try:
            changes = (
                connections.removing(connector.name, connector.removals(program))
                if remove
                else connections.connecting(connector.name, connector.edits(program))
            )
            if not as_json:
                _show(connector, changes, program, remove=remove, in_full=dry_run)
            agreed = not dry_run and (not asks or typer.confirm("Write this?", default=True))
            if agreed:
                _write(connections, connector, changes, remove=remove)
            rows.append(_row(connector, changes, written=agreed))
        except ConfigurationError as error:
            failed = True
            print_error(f"coppice: {connector.title}: {error} Nothing of it was changed.")
    if as_json:
        write_json({"agents": rows})
    return ExitCode.FAILED if failed else ExitCode.OK


async def show_status(workspace: Path | None, *, as_json: bool) -> None:
    """Print for each agent whether it is installed and connected, and how far its transcripts are read."""
    connections, program = Connections(_folder()), Program.installed()
    uri = workspace_uri(workspace)
    async with serving(uri) as service:
        found = await service.following.transcripts()
    rows: list[dict[str, Any]] = []
    for connector in CONNECTORS:
        connected = connections.is_connected(connector.edits(program))
        own = [each for each in found if each.agent.name == connector.name and not each.reading.forgotten]
        rows.append(
            {
                "agent": connector.name,
                "title": connector.title,
                "installed": connector.is_installed(),
                "connected": connected,
                "problems": connector.problems() if connected else [],
                "transcripts": len(own),
                "waiting": sum(not each.is_current for each in own),
                "lastHook": last_note(connector.name),
                "lastReading": max((each.reading.read_at or "" for each in own), default="") or None,
            }
        )
    if as_json:
        write_json({"agents": rows})
        return
    for row in rows:
        state = "connected" if row["connected"] else "installed" if row["installed"] else "not installed"
        write_text(
            f"{row['title']}: {state}; {row['transcripts']:,} transcripts, {row['waiting']:,} not read yet; "
            f"last reading {(row['lastReading'] or 'never')[:_TIME_CHARS].replace('T', ' ')}"
        )
        for sentence in row["problems"]:
            write_text(f"  {sentence}")
        if row["lastHook"]:
            write_text(f"  last hook: {plain_line(row['lastHook'], _NOTE_CHARS)}")


def _folder() -> Path:
    return config_directory() / "agents"


def _is_meant(connector: Connector, connections: Connections, program: Program, *, remove: bool) -> bool:
    return connections.is_connected(connector.edits(program)) if remove else connector.is_installed()


def _write(
    connections: Connections, connector: Connector, changes: Sequence[Change], *, remove: bool
) -> None:
    if remove:
        connections.remove(connector.name, changes, connector.own_folders())
    else:
        connections.connect(connector.name, changes)


def _show(
    connector: Connector, changes: Sequence[Change], program: Program, *, remove: bool, in_full: bool
) -> None:
    needed = [change for change in changes if change.is_needed]
    if not needed:
        state = "is not connected" if remove else "is connected"
        write_text(f"{connector.title} {state}; there is nothing to change.")
        return
    write_text(f"{connector.title}:")
    edits = connector.removals(program) if remove else connector.edits(program)
    for change in needed:
        what = ", ".join(edit.what for edit in edits if edit.path == change.path)
        write_text(f"  {plain_line(str(change.path))}: {'without ' if remove else ''}{what}")
        if in_full:
            write_text(plain(_diff(change)))
    for sentence in connector.advice if not remove else ():
        write_text(f"  {sentence}")


def _diff(change: Change) -> str:
    now, after = (text or "" for text in (change.now, change.after))
    lines = difflib.unified_diff(now.splitlines(), after.splitlines(), "now", "then", lineterm="", n=1)
    return "\n".join(f"    {line}" for line in lines)


def _row(connector: Connector, changes: Sequence[Change], *, written: bool) -> dict[str, Any]:
    return {
        "agent": connector.name,
        "files": [str(change.path) for change in changes if change.is_needed],
        "written": written,
    }
