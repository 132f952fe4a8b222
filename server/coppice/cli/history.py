"""`coppice history`: earlier entries of a conversation, found by a question or read by their ids."""

from pathlib import Path

from coppice.cli.exits import UsageError
from coppice.cli.plain import plain
from coppice.cli.sources import opened
from coppice.cli.terminal import warn, write_json, write_text
from coppice.protocol.history import RecallParams, RecallScope
from coppice.service.history.tools import heading_of


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
        found = await conversation.service.recall.recall(params)
    if as_json:
        write_json(found)
        return
    for item in found.items:
        write_text(plain(f"{heading_of(item)}\n{item.text.rstrip()}\n"))
    if not found.items:
        warn(["Nothing was found."])
    if found.next_cursor is not None:
        warn([f"There is more: give the command again with --cursor {found.next_cursor}."])
