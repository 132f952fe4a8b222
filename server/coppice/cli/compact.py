"""`coppice compact`: the same compaction as over LSP, for a session file or a stored conversation."""

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from coppice.cli.exits import UsageError
from coppice.cli.output_file import check_output, export_format
from coppice.cli.plain import counted, plain, plain_line
from coppice.cli.progress import watched
from coppice.cli.sources import Opened, opened
from coppice.cli.terminal import console, print_row, write_json
from coppice.protocol.compaction import (
    CompactParams,
    CompactPreviewParams,
    CompactPreviewResult,
    CompactResult,
)
from coppice.protocol.conversations import ExportFormat
from coppice.protocol.trees import ContextParams, ContextResult
from coppice.providers import PROVIDERS
from coppice.tree.entries import ENTRY
from coppice.tree.preview import preview_of

_SHOWN_AT_EACH_END: Final = 10  # messages: both ends on a screen
_PREVIEW_CHARS: Final = 90  # characters of a line: a terminal of 120 columns less the names
_NAME_CHARS: Final = 12  # columns of a field's name: the longest one and two spaces
_ROLE_NAMES: Final = {"toolResult": "tool result", "bashExecution": "command"}


@dataclass(frozen=True)
class Outcome:
    """`before` and `after` are what the model saw and sees; a dry run has no `after`."""

    source: Opened
    preview: CompactPreviewResult
    result: CompactResult
    before: ContextResult
    after: ContextResult | None

    def as_json(self, output: Path | None) -> dict[str, Any]:
        """What `--json` prints; the names are those of the wire."""
        return {
            "source": {"kind": "conversation" if self.source.stored else "file", "name": self.source.name},
            "conversation": self.source.conversation,
            "warnings": self.source.warnings,
            "dryRun": self.after is None,
            "preview": self.preview,
            "result": self.result,
            "context": None if self.after is None else _counts(self.after),
            "output": None if output is None else str(output),
        }


def show(outcome: Outcome, output: Path | None) -> None:
    """Writes the report to standard output."""
    out = console()
    _show_numbers(out, outcome)
    _show_heading(out, "Summary")
    for line in plain(outcome.result.entry.summary).split("\n"):
        out.print(_summary_line(line))
    _show_view(out, outcome)
    if output is not None:
        out.print(f"\nWritten to {plain_line(str(output))}")
    elif outcome.after is None:
        out.print("\nA dry run: nothing was stored.")
    elif outcome.source.stored:
        out.print(f"\nStored as entry {plain_line(outcome.result.entry.id)}.")
    else:
        out.print("\nThe session file is as it was; write the result with --output FILE.")


def _show_numbers(out: Console, outcome: Outcome) -> None:
    preview, result = outcome.preview, outcome.result
    before, after = result.tokens_before, result.tokens_after
    share = f" ({(before - after) / before:.0%} less)" if 0 < after < before else ""
    out.print(Text.assemble((f"{before:,} → {after:,} tokens", "bold"), share))
    source = outcome.before.token_source
    if source == "usage":
        out.print("Before: the provider's count, with system prompt and tools. After: our count.")
    out.print()
    turn = ""
    if preview.is_split_turn:
        turn = f", and {counted(preview.turn_prefix_messages, 'message')} from the start of a split turn"
    dropped = result.report.dropped
    _print_field(out, "Summarized", f"{counted(preview.messages_to_summarize, 'message')}{turn}")
    kinds = dropped.by_kind.model_dump()
    largest = sorted(((tokens, kind) for kind, tokens in kinds.items() if tokens), reverse=True)
    what = ", ".join(f"{kind.replace('_', ' ')} {tokens:,}" for tokens, kind in largest)
    _print_field(out, "", f"{dropped.tokens:,} tokens{f': {what}' if what else ''}")
    if preview.previous_summary:
        _print_field(out, "", "and the summary before it, which is carried forward")
    kept_messages = _messages_from(outcome.before, result.first_kept_entry_id)
    first = plain_line(result.first_kept_entry_id)
    _print_field(
        out,
        "Kept",
        f"{counted(kept_messages, 'message')}, {preview.kept_tokens:,} tokens, from entry {first} on",
    )
    read, modified = len(preview.read_files), len(preview.modified_files)
    further = f", {preview.files_left_out:,} more" if preview.files_left_out else ""
    _print_field(out, "Files", f"{read:,} read, {modified:,} modified{further}")
    _print_field(out, "Written by", f"{plain_line(result.summarizer)}, in {result.duration_ms / 1000:.1f} s")
    for warning in result.warnings:
        _print_field(out, "Warning", plain_line(warning))
    for claim in result.report.unsupported:
        where = claim.shown or "nowhere in what the summary is about"
        about = f"the {claim.kind} {claim.text}: {where}"
        _print_field(out, "Unsupported", plain_line(about))


def _print_field(out: Console, name: str, value: str) -> None:
    """`value` after `name`, aligned with the other fields on every line that a terminal needs for it."""
    line = f"{name:{_NAME_CHARS}}{value}"
    if out.is_terminal:
        line = textwrap.fill(line, out.width, subsequent_indent=" " * _NAME_CHARS)
    out.print(line)


def _show_view(out: Console, outcome: Outcome) -> None:
    if outcome.after is None:
        kept_messages = _messages_from(outcome.before, outcome.result.first_kept_entry_id)
        _show_heading(out, "What the model would see")
        tokens = outcome.result.tokens_after
        out.print(f"The summary and {counted(kept_messages, 'message')}, {tokens:,} tokens.")
        return
    _show_heading(out, "What the model now sees")
    messages = outcome.after.messages
    assert isinstance(messages, list)  # noqa: S101 - the format `entries` is a list
    out.print(f"{counted(len(messages), 'message')}, {outcome.after.tokens:,} tokens\n")
    hidden = len(messages) - 2 * _SHOWN_AT_EACH_END
    for index, message in enumerate(messages):
        if hidden > 1 and index == _SHOWN_AT_EACH_END:
            out.print(f"      … {hidden:,} more …")
        if hidden <= 1 or index < _SHOWN_AT_EACH_END or index >= len(messages) - _SHOWN_AT_EACH_END:
            print_row(out, view_line(index + 1, message))


def view_line(number: int, message: dict[str, Any]) -> Text:
    """A message of a view on one line: its number, its role, and the beginning of its text."""
    about = {"type": "message", "id": "", "parentId": None, "timestamp": ""}
    without_id = {key: value for key, value in message.items() if key != "entryId"}
    entry = ENTRY.validate_python({**about, "message": without_id})
    role = str(message["role"])
    words = plain_line(preview_of(entry, _PREVIEW_CHARS))
    return Text.assemble(f"{number:5,} ", (f"{_ROLE_NAMES.get(role, role):12}", "cyan"), words)


def _summary_line(line: str) -> Text:
    if line.startswith("#"):
        return Text(line, style="bold")
    return Text(line, style="dim") if line.startswith("<") else Text(line)


def _show_heading(out: Console, title: str) -> None:
    out.print()
    if out.is_terminal:
        out.print(Rule(title, align="left", style="dim"))
    else:
        out.print(f"--- {title} ---")


def _counts(context: ContextResult) -> dict[str, Any]:
    facts = context.model_dump(mode="json", by_alias=True, exclude={"messages", "system"})
    return {"messages": len(context.messages), **facts}


def _messages_from(context: ContextResult, entry_id: str) -> int:
    """The number of the view's messages from the entry on, 0 if the view does not contain it."""
    messages = context.messages
    ids = [message.get("entryId") for message in messages if isinstance(message, dict)]
    return len(ids) - ids.index(entry_id) if entry_id in ids else 0


@dataclass(frozen=True)
class CompactCommand:
    """`coppice compact`: compact a session file or a stored conversation.

    The sizes are in tokens; what is None is left to the settings.
    """

    source: str
    workspace: Path | None
    leaf: str | None
    keep_recent: int | None
    reserve: int | None
    max_summary: int | None
    window: int | None
    counter: str | None
    model: str | None
    base_url: str | None
    api_key_env: str | None
    instructions: str | None
    references: bool | None
    dry_run: bool
    output: Path | None
    format: ExportFormat | None
    force: bool
    as_json: bool

    async def execute(self) -> None:
        """Compact, and print the outcome.

        UsageError, before anything is read, where the options do not go together.
        """
        if self.output is not None:
            if self.dry_run:
                raise UsageError("--dry-run writes nothing; leave --output away.")
            check_output(self.output, self.source, force=self.force)
        async with opened(self.source, self.workspace, client_settings=self._settings()) as conversation:
            outcome = await self._compacted(conversation)
            if self.output is not None:
                source = conversation.conversation.source
                format_ = self.format or export_format(self.output, source.format if source else None)
                await conversation.export(self.output, format_, overwrite=self.force)
        if self.as_json:
            write_json(outcome.as_json(self.output))
        else:
            show(outcome, self.output)

    def _settings(self) -> dict[str, Any]:
        """The options as settings of a client, where None is no value."""
        return {
            "compaction": {
                "keepRecentTokens": self.keep_recent,
                "reserveTokens": self.reserve,
                "maxSummaryTokens": self.max_summary,
                "references": self.references,
            },
            "model": {"contextWindow": self.window},
            "tokens": {"counter": self.counter},
            "summarizer": self._summarizer(),
        }

    def _summarizer(self) -> dict[str, Any]:
        """UsageError where the options do not go together."""
        if self.model is None:
            if self.base_url is not None or self.api_key_env is not None:
                raise UsageError("--base-url and --api-key-env go with --model; give that too.")
            return {}
        provider, _, name = self.model.partition("/")
        if provider not in (*PROVIDERS, "offline") or (provider != "offline" and not name):
            raise UsageError(f"--model takes {', '.join(f'{each}/NAME' for each in PROVIDERS)}, or offline.")
        return {
            "provider": provider,
            "name": name or None,
            "baseUrl": self.base_url,
            "apiKeyEnv": self.api_key_env,
        }

    async def _compacted(self, conversation: Opened) -> Outcome:
        service = conversation.service
        conversation_id = conversation.id
        if self.leaf is not None:
            if conversation.stored:
                raise UsageError(
                    "--leaf works on session files; a stored conversation is compacted at its leaf."
                )
            await service.trees.set_leaf(conversation_id, self.leaf)
        preview = await service.compacting.preview(CompactPreviewParams(conversation_id=conversation_id))
        seen = ContextParams(conversation_id=conversation_id)
        before = await service.views.context(seen)
        params = CompactParams(
            conversation_id=conversation_id, instructions=self.instructions, draft=self.dry_run
        )
        result = await service.compacting.compact(params, watched(console(stderr=True)))
        after = None if self.dry_run else await service.views.context(seen)
        return Outcome(conversation, preview, result, before, after)
