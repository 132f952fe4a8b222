"""Commands that print what is stored: `coppice context`, `ledger`, `history` and `search`."""

import asyncio
import sys
from pathlib import Path
from typing import Final

from rich.text import Text

from coppice.cli.exits import UsageError
from coppice.cli.plain import minute_of, plain, plain_line
from coppice.cli.progress import watched
from coppice.cli.running import serving, workspace_uri
from coppice.cli.sources import located, opened
from coppice.cli.terminal import console, print_error, print_row, warn, write_json, write_text
from coppice.compaction.writing.state_lines import state_section
from coppice.compaction.writing.user_messages import user_messages_section
from coppice.protocol.history import RecallItem, RecallParams, RecallScope
from coppice.protocol.ledger import LedgerParams
from coppice.protocol.navigation import SearchHit, SearchParams
from coppice.protocol.trees import ContextFormat, ContextParams
from coppice.protocol.usage import TokenSource
from coppice.service.core.progress import LateProgress

_COUNTED_BY: Final[dict[TokenSource, str]] = {
    "usage": "the provider's count, with its system prompt and tools",
    "tokenizer": "the tokenizer's count",
    "estimate": "an estimate",
}


async def show_context(
    source: str, workspace: Path | None, format_: ContextFormat, leaf: str | None, *, as_json: bool
) -> None:
    """Print what a model is sent for a path: on standard output, so that it can be piped.

    Its size in tokens goes to standard error.
    """
    async with opened(source, workspace) as conversation:
        params = ContextParams(conversation_id=conversation.id, leaf_id=leaf, format=format_)
        result = await conversation.service.views.context(params)
    if as_json:
        write_json(result)
        return
    print_error(f"{result.tokens:,} tokens ({_COUNTED_BY[result.token_source]})")
    if isinstance(result.messages, str):
        write_text(plain(result.messages))
    elif result.system is not None:
        write_json({"system": result.system, "messages": result.messages})
    else:
        write_json(result.messages)


async def show_ledger(source: str, workspace: Path | None, leaf: str | None, *, as_json: bool) -> None:
    """Print the user's messages on a path, and the state of the work at its end."""
    async with opened(source, workspace) as conversation:
        params = LedgerParams(conversation_id=conversation.id, leaf_id=leaf)
        result = await conversation.service.views.ledger(params, watched(console(stderr=True)))
    if as_json:
        write_json(result)
        return
    if result.not_read:
        warn([f"Computed without the oldest {result.not_read:,} entries since the last compaction."])
    ledger = result.ledger
    messages = user_messages_section(ledger.messages, sys.maxsize, len, {})
    state = state_section(ledger.state, sys.maxsize, len, {})
    write_text(plain("\n\n".join(filter(None, (messages, state)))) or "The conversation has no messages.")


async def show_history(
    source: str,
    workspace: Path | None,
    *,
    query: str | None = None,
    ids: list[str] | None = None,
    scope: RecallScope = "conversation",
    max_tokens: int,
    cursor: str | None,
    as_json: bool,
) -> None:
    """Print what answers `query`, or the entries `ids`, whole. UsageError for a question without words."""
    if query is not None and not query.strip():
        raise UsageError("The question is empty; name what to look for.")
    async with opened(source, workspace) as conversation:
        params = RecallParams(
            conversation_id=conversation.id,
            query=query,
            entry_ids=ids,
            scope=scope,
            max_tokens=max_tokens,
            cursor=cursor,
        )
        progress = LateProgress(watched(console(stderr=True)))
        page = await conversation.service.recall.recall(params, progress)
    if as_json:
        write_json(page)
        return
    for item in page.items:
        write_text(f"{_heading(item)}\n{plain(item.text.rstrip())}\n")
    if not page.items:
        warn(["Nothing was found."])
    if page.next_cursor is not None:
        warn([f"There is more: give the command again with --cursor {page.next_cursor}."])


def _heading(item: RecallItem) -> str:
    """The line above an item's text: id, time, kind, and what it is about."""
    what = item.tool_name or item.role or item.type.replace("_", " ")
    facts = [
        f"[#{item.entry_id}] {item.timestamp} {what}",
        item.call or item.path or "",
        "part of the entry" if item.truncated else "",
        "" if item.on_current_path else "on another branch",
    ]
    return plain_line(" | ".join(fact for fact in facts if fact))


_MOST_CHARS: Final = 1000  # characters; the limit of `coppice/conversation/search`


async def search_conversations(
    query: str, workspace: Path | None, conversation: str | None, limit: int, *, as_json: bool
) -> None:
    """Print what a full-text search over the stored conversations finds, newest first."""
    if not 0 < len(query) <= _MOST_CHARS:
        raise UsageError(f"A query has 1 to {_MOST_CHARS:,} characters.")
    uri = workspace_uri(workspace)
    if conversation is not None:
        conversation, uri = await asyncio.to_thread(located, conversation, workspace)
    params = SearchParams(query=query, conversation_id=conversation, limit=limit)
    async with serving(uri) as service:
        result = await service.searching.search(params, LateProgress(watched(console(stderr=True))))
    if as_json:
        write_json(result)
    elif console().is_terminal:
        _show(result.hits)
    else:
        for hit in result.hits:
            where = "current" if hit.on_current_branch else "elsewhere"
            cells = (hit.conversation_id, hit.entry_id, hit.timestamp, where, hit.snippet)
            write_text("\t".join(plain_line(cell) for cell in cells))


def _show(hits: list[SearchHit]) -> None:
    """The hits for a person, below the conversations that they are in."""
    out = console()
    if not hits:
        out.print("Nothing was found.")
    conversation = None
    for hit in hits:
        if hit.conversation_id != conversation:
            conversation = hit.conversation_id
            out.print(Text(plain_line(conversation), style="bold"))
        dot = "●" if hit.on_current_branch else "○"
        time = minute_of(hit.timestamp)
        out.print(Text.assemble(f"{dot} ", (plain_line(hit.entry_id), "cyan"), f"  {time}"))
        print_row(out, Text(f"  {plain_line(hit.snippet)}"))
