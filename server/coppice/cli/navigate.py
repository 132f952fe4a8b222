"""`coppice navigate`: to another place of a stored conversation's tree, or what going there would leave."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from coppice.cli.exits import ExitCode, UsageError
from coppice.cli.plain import plain, plain_line
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

_SHOWN: Final = 20  # entries listed (guess)
_ID_CHARS: Final = 40  # characters of an id (guess: a UUID has 36)
_PREVIEW_CHARS: Final = 72  # characters of a line (guess: a terminal of 120 columns)
_NOWHERE: Final = "(before the first message)"


@dataclass(frozen=True)
class NavigateCommand:
    """`coppice navigate`: move the leaf, or preview what that leaves."""

    source: str
    target: str
    workspace: Path | None = None
    summarize: bool = False
    instructions: str | None = None
    label: str | None = None
    preview: bool = False
    as_json: bool = False

    async def __call__(self) -> ExitCode:
        """Navigate. UsageError where the options do not go together; INTERRUPTED after Ctrl-C."""
        if self.instructions is not None and not self.summarize:
            raise UsageError("--instructions are for the summary; give --summarize too.")
        if self.preview and (self.summarize or self.label is not None):
            raise UsageError("--preview changes nothing; leave --summarize and --label away.")
        async with opened(self.source, self.workspace) as conversation:
            warn(conversation.warnings)
            if self.preview:
                await self._preview(conversation)
                return ExitCode.OK
            if not conversation.stored:
                raise UsageError(
                    "A session file is never written to. Store it with `coppice import`, or give --preview."
                )
            return await self._go(conversation)

    async def _preview(self, conversation: Opened) -> None:
        about = NavigatePreviewParams(conversation_id=conversation.id, target_id=self.target)
        found = await conversation.service.navigating.preview(about)
        if self.as_json:
            write_json(found.model_dump(mode="json", by_alias=True))
            return
        entries: list[Entry] = []
        if found.entries_to_summarize:
            span = EntriesParams(
                conversation_id=conversation.id,
                leaf_id=found.leaf_id,
                after=found.common_ancestor_id,
                limit=_SHOWN,
            )
            entries = (await conversation.service.trees.entries(span)).entries
        _show_preview(found, entries)

    async def _go(self, conversation: Opened) -> ExitCode:
        before = conversation.conversation.leaf_id
        params = NavigateParams(
            conversation_id=conversation.id,
            target_id=self.target,
            summarize=self.summarize,
            instructions=self.instructions,
            label=self.label,
        )
        progress = watched(console(stderr=True))
        result = await conversation.service.navigating.navigate(params, progress)
        if self.as_json:
            write_json(_as_json(before, result))
        elif not result.cancelled:
            warn(result.warnings or [])
            _show_result(before, result, wanted_summary=self.summarize)
        if result.cancelled:
            print_error("coppice: the navigation was stopped; nothing was changed.")
            return ExitCode.FAILED
        return ExitCode.OK


def _as_json(before: str | None, result: NavigateResult) -> dict[str, Any]:
    """The method's result and the previous leaf; navigating to that undoes the change."""
    return {"oldLeafId": before, **result.model_dump(mode="json", by_alias=True)}


def _show_preview(found: NavigatePreviewResult, entries: list[Entry]) -> None:
    out = console()
    count = len(found.entries_to_summarize)
    if not count:
        out.print("No entries would leave the path.")
        return
    things = "1 entry" if count == 1 else f"{count:,} entries"
    where = (
        f"after {plain_line(found.common_ancestor_id, _ID_CHARS)}" if found.common_ancestor_id else "in all"
    )
    out.print(f"{things} {where} would leave the path, {found.tokens:,} tokens:\n")
    for entry in entries:
        print_row(out, _line(entry))
    if count > len(entries):
        out.print(f"… {count - len(entries):,} more …")
    out.print(f"\nTo return, navigate to {_place(found.leaf_id)}.")


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
