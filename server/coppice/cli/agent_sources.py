"""`coppice sources`: the transcripts of other agents on this machine."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from rich.text import Text

from coppice.cli.plain import minute_of, plain_line
from coppice.cli.progress import watched
from coppice.cli.running import serving, workspace_uri
from coppice.cli.terminal import console, print_row, warn, write_json, write_text
from coppice.service.conversations.following import Updated
from coppice.service.conversations.looking import FollowedTranscript
from coppice.store.tree.location import canonical_uri

_TITLE_CHARS: Final = 12  # columns: the longest title of an agent


async def show_sources(workspace: Path | None, *, update: bool, everywhere: bool, as_json: bool) -> None:
    """Print what there is of each agent, those of this workspace first; with `update` read it before."""
    uri = workspace_uri(workspace)
    async with serving(uri) as service:
        updated = None
        if update:
            updated = await service.following.update(
                None if everywhere else uri, watched(console(stderr=True))
            )
        transcripts = await service.following.transcripts()
        warn(_problems(transcripts) if updated is None else updated.problems)
        rows = _rows(transcripts, canonical_uri(uri))
    if as_json:
        write_json({"sources": rows} | ({} if updated is None else {"updated": _counts(updated)}))
        return
    _show(rows)
    if updated is not None:
        counts = _counts(updated)
        console().print(
            f"{counts['read']:,} read: {counts['created']:,} new conversations, "
            f"{counts['extended']:,} that have grown."
        )


def _problems(transcripts: Iterable[FollowedTranscript]) -> list[str]:
    """Why transcripts could not be read the last time, each once."""
    problems = (
        f"{Path(each.reading.path).name}: {each.reading.problem}"
        for each in transcripts
        if each.transcript is not None and each.reading.problem is not None and not each.reading.forgotten
    )
    return [*dict.fromkeys(problems)]


def _counts(updated: Updated) -> dict[str, int]:
    return {
        "read": updated.read,
        "created": len(updated.created),
        "extended": len(updated.extended),
        "problems": len(updated.problems),
    }


def _rows(transcripts: Iterable[FollowedTranscript], workspace: str) -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for each in transcripts:
        reading = each.reading
        if reading.forgotten:
            continue
        empty = {"agent": each.agent.name, "title": each.agent.title, "here": 0, "conversations": 0}
        more = {"bytes": 0, "stored": 0, "waiting": 0, "deletedByAgent": 0, "skipped": 0, "lastReading": None}
        row = rows.setdefault(each.agent.name, empty | more)
        row["conversations"] += 1
        row["here"] += reading.workspace == workspace
        row["bytes"] += reading.size
        row["stored"] += reading.read_at is not None
        row["waiting"] += not each.is_current
        row["deletedByAgent"] += each.transcript is None
        row["skipped"] += reading.skipped
        row["lastReading"] = max(row["lastReading"] or "", reading.read_at or "") or None
    return sorted(rows.values(), key=lambda row: (-row["here"], row["title"]))


def _show(rows: list[dict[str, Any]]) -> None:
    out = console()
    if not rows:
        out.print("No transcripts of other agents were found on this machine.")
        return
    for row in rows:
        if not out.is_terminal:
            write_text("\t".join(plain_line(str(value)) for value in row.values()))
            continue
        read = minute_of(row["lastReading"])
        line = (
            f"  {row['here']:,} here, {row['conversations']:,} in all, {row['bytes'] / 1e6:,.1f} MB; "
            f"{row['stored']:,} stored, {row['waiting']:,} waiting; last reading {read}"
        )
        print_row(out, Text.assemble((f"{row['title']:{_TITLE_CHARS}}", "cyan"), line))
