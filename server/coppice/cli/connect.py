"""`coppice connect`: agents that search their history through Coppice."""

import difflib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import typer

from coppice.agents.connecting import Change, Connections
from coppice.agents.connector import Connector
from coppice.agents.jsonc import ConfigurationError
from coppice.agents.program import Program
from coppice.agents.registry import CONNECTORS, NAMES
from coppice.cli.exits import ExitCode, UsageError
from coppice.cli.plain import plain, plain_line
from coppice.cli.terminal import print_error, write_json, write_text
from coppice.directories import config_directory

_SHOWN_LINES: Final = 24  # lines of a new file that a dry run shows: a small terminal


async def connect_agents(
    names: Sequence[str], *, remove: bool, dry_run: bool, everything: bool, as_json: bool
) -> ExitCode:
    """Connect the named agents, or take that back; without names ask at a terminal which."""
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise UsageError(f"{plain_line(unknown[0], 80)!r} is no agent; there are {', '.join(NAMES)}.")
    if names and everything:
        raise UsageError("Name agents, or give --all.")
    connections, program = Connections(connections_folder()), Program.installed()
    chosen = [each for each in CONNECTORS if each.name in names]
    if not names:
        chosen = [each for each in CONNECTORS if _is_meant(each, connections, program, remove=remove)]
    asks = not names and not everything and not dry_run
    if asks and not sys.stdin.isatty():
        meant = ", ".join(each.name for each in chosen)
        state = "connected" if remove else "installed"
        raise UsageError(f"Name agents, or give --all: {meant or 'none'} {state}.")
    if not names and not as_json:
        _list(chosen, connections, program, remove=remove)
    rows, failed = [], False
    for connector in chosen:
        try:
            changes = (
                connections.removing(connector.name, connector.removals(program))
                if remove
                else connections.connecting(connector.name, connector.edits(program))
            )
            is_needed = any(change.is_needed for change in changes)
            if not as_json:
                _show(connector, changes, program, remove=remove, in_full=dry_run)
            agreed = not dry_run and (not asks or not is_needed or _agrees(connector, remove=remove))
            if agreed:
                _write(connections, connector, changes, remove=remove)
            if is_needed and not as_json:
                done = ("Removed." if remove else "Connected.") if agreed else "Nothing was written."
                write_text(f"  {done}")
            rows.append(_row(connector, changes, written=agreed))
        except ConfigurationError as error:
            failed = True
            print_error(f"coppice: {connector.title}: {error} Nothing of it was changed.")
    if as_json:
        write_json({"agents": rows})
    return ExitCode.FAILED if failed else ExitCode.OK


def connections_folder() -> Path:
    """Where it is recorded what is connected."""
    return config_directory() / "agents"


def _list(chosen: Sequence[Connector], connections: Connections, program: Program, *, remove: bool) -> None:
    """Which agents there are, before any of them is changed."""
    if remove:
        write_text(f"Connected: {_titles(chosen)}")
        return
    connected = [each for each in chosen if connections.is_connected(each.edits(program))]
    write_text(f"Installed: {_titles(chosen)}")
    write_text(f"Connected: {_titles(connected)}")
    write_text(f"Not installed: {_titles([each for each in CONNECTORS if each not in chosen])}")


def _titles(connectors: Sequence[Connector]) -> str:
    return ", ".join(each.title for each in connectors) or "none"


def _agrees(connector: Connector, *, remove: bool) -> bool:
    question = f"Take Coppice out of {connector.title}?" if remove else f"Connect {connector.title}?"
    return typer.confirm(question, default=True)


def _is_meant(connector: Connector, connections: Connections, program: Program, *, remove: bool) -> bool:
    if not remove:
        return connector.is_installed()
    return connections.is_recorded(connector.name) or connections.is_connected(connector.edits(program))


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
        write_text(f"  {plain_line(str(change.path))}")
        for edit in edits:
            if edit.path == change.path:
                write_text(f"    {'without ' if remove else ''}{edit.what}")
        if in_full:
            write_text(plain(_difference(change)))
    for sentence in connector.advice if not remove else ():
        write_text(f"  {sentence}")


def _difference(change: Change) -> str:
    now, after = ((text or "").splitlines() for text in (change.now, change.after))
    if change.now is None and len(after) > _SHOWN_LINES:
        return f"    a new file of {len(after):,} lines"
    if change.after is None:
        return "    the file is deleted"
    lines = difflib.unified_diff(now, after, "now", "then", lineterm="", n=1)
    return "\n".join(f"    {line}" for line in lines)


def _row(connector: Connector, changes: Sequence[Change], *, written: bool) -> dict[str, Any]:
    return {
        "agent": connector.name,
        "files": [str(change.path) for change in changes if change.is_needed],
        "written": written,
    }
