"""`coppice history`: earlier entries of a conversation, found by a question or read by their ids."""

from pathlib import Path

from coppice.cli.exits import UsageError
from coppice.cli.plain import plain, plain_line
from coppice.cli.sources import opened
from coppice.cli.terminal import warn, write_json, write_text
from coppice.protocol.history import RecallItem, RecallParams, RecallScope


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
        page = await conversation.service.recall.recall(params)
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
