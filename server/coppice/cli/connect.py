"""`coppice connect`: agents that search their history through Coppice."""

import difflib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import typer

from coppice.agents.connecting import Change, ChangedMeanwhileError, Connections
from coppice.agents.connector import Connector
from coppice.agents.edits import Edit
from coppice.agents.files import read
from coppice.agents.jsonc import ConfigurationError
from coppice.agents.program import Program
from coppice.agents.registry import CONNECTORS, NAMES
from coppice.cli.exits import ExitCode, UsageError
from coppice.cli.plain import plain, plain_line
from coppice.cli.terminal import print_error, write_json, write_text
from coppice.directories import config_directory

_MOST_AGAIN: Final = 3
"""Times that changes are computed again: between that and writing are some milliseconds."""
_SHOWN_LINES: Final = 24  # lines of a new file that a dry run shows: a small terminal


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The options of the command, but for its output."""

    remove: bool
    dry_run: bool
    everything: bool
    agents_md: bool
    yes: bool


async def connect_agents(names: Sequence[str], wanted: Wanted, *, as_json: bool) -> ExitCode:
    """Connect the named agents, or take that back; without names ask at a terminal which."""
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise UsageError(f"{plain_line(unknown[0], 80)!r} is no agent; there are {', '.join(NAMES)}.")
    if names and wanted.everything:
        raise UsageError("Name agents, or give --all.")
    connections, program = Connections(connections_folder()), Program.installed()
    chosen = [each for each in CONNECTORS if each.name in names]
    if not names:
        chosen = [each for each in CONNECTORS if _is_meant(each, connections, program, remove=wanted.remove)]
    _check_instructions(chosen, wanted, can_ask=sys.stdin.isatty() and not as_json)
    asks = not names and not wanted.everything and not wanted.dry_run
    if asks and not sys.stdin.isatty():
        meant = ", ".join(each.name for each in chosen)
        state = "connected" if wanted.remove else "installed"
        raise UsageError(f"Name agents, or give --all: {meant or 'none'} {state}.")
    if not names and not as_json:
        _list(chosen, connections, program, remove=wanted.remove)
    rows, failed = [], False
    for connector in chosen:
        try:
            wants_lines = wanted.agents_md and (wanted.yes or wanted.dry_run or _agrees_to_lines(connector))
            edits = _edits(connector, program, remove=wanted.remove, wants_lines=wants_lines)
            changes, agreed = _changed(connections, connector, edits, wanted, asks=asks, as_json=as_json)
            is_needed = any(change.is_needed for change in changes)
            if is_needed and not as_json:
                done = ("Removed." if wanted.remove else "Connected.") if agreed else "Nothing was written."
                write_text(f"  {done}")
            rows.append(_row(connector, changes, written=agreed))
        except ConfigurationError as error:
            failed = True
            print_error(f"coppice: {connector.title}: {error} Nothing of it was changed.")
    if as_json:
        write_json({"agents": rows})
    return ExitCode.FAILED if failed else ExitCode.OK


def _changed(
    connections: Connections,
    connector: Connector,
    edits: Sequence[Edit],
    wanted: Wanted,
    *,
    asks: bool,
    as_json: bool,
) -> tuple[list[Change], bool]:
    """What changes, and whether it was written.

    Where a file changed before that, all is computed again, and shown and asked again if it is more.
    """
    shown: set[Path] | None = None
    for again in range(_MOST_AGAIN + 1):
        changes = (
            connections.removing(connector.name, edits)
            if wanted.remove
            else connections.connecting(connector.name, edits)
        )
        needed = {change.path for change in changes if change.is_needed}
        if shown is None or not needed <= shown:
            if not as_json:
                _show(connector, changes, edits, remove=wanted.remove, in_full=wanted.dry_run)
            if wanted.dry_run or (asks and needed and not _agrees(connector, remove=wanted.remove)):
                break
            shown = needed
        try:
            _write(connections, connector, changes, remove=wanted.remove)
        except ChangedMeanwhileError:
            if again == _MOST_AGAIN:
                raise
        else:
            return changes, True
    return changes, False


def _check_instructions(chosen: Sequence[Connector], wanted: Wanted, *, can_ask: bool) -> None:
    if not wanted.agents_md:
        return
    if wanted.remove:
        raise UsageError("--remove takes the section out of AGENTS.md as well; leave out --agents-md.")
    if not any(each.instructions() for each in chosen):
        raise UsageError("--agents-md is for codex: coppice connect codex --agents-md")
    if not (can_ask or wanted.yes or wanted.dry_run):
        raise UsageError("--agents-md changes your own instructions. Give --yes if nobody can be asked.")


def _agrees_to_lines(connector: Connector) -> bool:
    section = connector.instructions()
    if section is None or section.is_in(read(section.path)):
        return section is not None
    write_text(
        f"At the end of {plain_line(str(section.path))}, which {connector.title} reads in each session:"
    )
    write_text("".join(f"    {line}\n" for line in section.lines.splitlines()).rstrip())
    return typer.confirm("Add this?", default=False)


def _edits(connector: Connector, program: Program, *, remove: bool, wants_lines: bool) -> list[Edit]:
    """What is changed; the section of instructions stays as current as the rest where it is."""
    section = connector.instructions()
    edits = connector.removals(program) if remove else connector.edits(program)
    is_meant = section is not None and (remove or wants_lines or section.is_there(read(section.path)))
    return [*edits, section] if section is not None and is_meant else edits


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
    is_recorded = connections.is_recorded(connector.name, connector.removals(program))
    return is_recorded or connections.is_connected(connector.edits(program))


def _write(
    connections: Connections, connector: Connector, changes: Sequence[Change], *, remove: bool
) -> None:
    if remove:
        connections.remove(connector.name, changes, connector.own_folders())
    else:
        connections.connect(connector.name, changes)


def _show(
    connector: Connector, changes: Sequence[Change], edits: Sequence[Edit], *, remove: bool, in_full: bool
) -> None:
    needed = [change for change in changes if change.is_needed]
    if not needed:
        state = "is not connected" if remove else "is connected"
        write_text(f"{connector.title} {state}; there is nothing to change.")
        return
    write_text(f"{connector.title}:")
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
