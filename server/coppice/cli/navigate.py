"""`coppice navigate`: to another place of a stored conversation's tree, or what going there would leave."""

from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from coppice.cli.exits import ExitCode, UsageError
from coppice.cli.plain import entries_of, plain, plain_line
from coppice.cli.progress import watched
from coppice.cli.sources import Opened, opened
from coppice.cli.terminal import console, print_error, print_row, warn, write_json
from coppice.protocol.navigation import (
    NavigateParams,
    NavigatePreviewParams,
    NavigatePreviewResult,
    NavigateResult,
)
from coppice.protocol.trees import EntriesParams
from coppice.tree.entries import Entry, MessageEntry
from coppice.tree.preview import preview_of

_SHOWN: Final = 20  # entries listed: most of a terminal of 24 lines
_ID_CHARS: Final = 40  # characters of an id: a UUID has 36
_PREVIEW_CHARS: Final = 72  # characters of a line: what a terminal of 120 columns has beside an id
_NOWHERE: Final = "(before the first message)"


async def navigate_tree(
    source: str,
    target: str,
    workspace: Path | None,
    *,
    summarize: bool,
    instructions: str | None,
    label: str | None,
    preview: bool,
    dry_run: bool,
    as_json: bool,
) -> ExitCode:
    """Move the leaf, or preview what that leaves; with `dry_run` in a copy of a session file.

    UsageError where the options do not go together.
    """
    if instructions is not None and not summarize:
        raise UsageError("--instructions are for the summary; give --summarize too.")
    if preview and (summarize or label is not None):
        raise UsageError("--preview changes nothing; leave --summarize and --label away.")
    async with opened(source, workspace) as conversation:
        if preview:
            await _preview(conversation, target, as_json=as_json)
            return ExitCode.OK
        if conversation.stored and dry_run:
            raise UsageError("--dry-run works on session files; for a stored conversation give --preview.")
        if not conversation.stored and not dry_run:
            raise UsageError(
                "A session file is never written to. Store it with `coppice import`, or give --preview or "
                "--dry-run."
            )
        params = NavigateParams(
            conversation_id=conversation.id,
            target_id=target,
            summarize=summarize,
            instructions=instructions,
            label=label,
        )
        return await _go(conversation, params, as_json=as_json)


async def _preview(conversation: Opened, target: str, *, as_json: bool) -> None:
    about = NavigatePreviewParams(conversation_id=conversation.id, target_id=target)
    preview = await conversation.service.navigating.preview(about)
    if as_json:
        write_json(preview)
        return
    entries: list[Entry] = []
    if preview.entries_to_summarize:
        span = EntriesParams(
            conversation_id=conversation.id,
            leaf_id=preview.leaf_id,
            after=preview.common_ancestor_id,
            limit=_SHOWN,
        )
        entries = (await conversation.service.trees.entries(span)).entries
    _show_preview(preview, entries)


async def _go(conversation: Opened, params: NavigateParams, *, as_json: bool) -> ExitCode:
    before = conversation.conversation.leaf_id
    result = await conversation.service.navigating.navigate(params, watched(console(stderr=True)))
    if as_json:
        # Navigating to the previous leaf undoes the change.
        write_json({"oldLeafId": before, **result.model_dump(mode="json", by_alias=True)})
    elif not result.cancelled:
        warn(result.warnings or [])
        _show_result(before, result, wanted_summary=params.summarize)
    if result.cancelled:
        print_error("coppice: the navigation was stopped; nothing was changed.")
        return ExitCode.FAILED
    return ExitCode.OK


def _show_preview(preview: NavigatePreviewResult, entries: list[Entry]) -> None:
    out = console()
    count = len(preview.entries_to_summarize)
    if not count:
        out.print("No entries would leave the path.")
        return
    where = (
        f"after {plain_line(preview.common_ancestor_id, _ID_CHARS)}"
        if preview.common_ancestor_id
        else "in all"
    )
    out.print(f"{entries_of(count)} {where} would leave the path, {preview.tokens:,} tokens:\n")
    for entry in entries:
        print_row(out, _line(entry))
    if count > len(entries):
        out.print(f"… {count - len(entries):,} more …")
    out.print(f"\nTo return, navigate to {_place(preview.leaf_id)}.")


def _line(entry: Entry) -> Text:
    kind = entry.message.role if isinstance(entry, MessageEntry) else entry.type
    preview = plain_line(preview_of(entry, _PREVIEW_CHARS))
    return Text.assemble(
        (plain_line(entry.id, _ID_CHARS), "dim"), (f" {plain_line(kind, 30)} ", "cyan"), preview
    )


def _show_result(before: str | None, result: NavigateResult, *, wanted_summary: bool) -> None:
    out = console()
    if result.leaf_id == before:
        out.print(f"The conversation stays at {_place(before)}.")
    else:
        out.print(Text(f"{_place(before)} → {_place(result.leaf_id)}", style="bold"))
    if result.editor_text is not None:
        _show_text(out, "To edit and send again", result.editor_text)
    if result.summary_entry is not None:
        _show_text(out, "What the branch that was left did", result.summary_entry.summary)
    elif wanted_summary:
        out.print("There was nothing to summarize.")


def _show_text(out: Console, title: str, text: str) -> None:
    out.print(f"\n--- {title} ---")
    for line in plain(text).splitlines():
        out.print(line)


def _place(leaf_id: str | None) -> str:
    return _NOWHERE if leaf_id is None else plain_line(leaf_id, _ID_CHARS)
