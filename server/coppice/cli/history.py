"""`coppice history`: earlier entries of a conversation, found by a question or read by their ids."""

from dataclasses import dataclass
from pathlib import Path

from coppice.cli.exits import UsageError
from coppice.cli.plain import plain
from coppice.cli.sources import opened
from coppice.cli.terminal import warn, write_json, write_text
from coppice.protocol.history import RecallItem, RecallParams, RecallScope
from coppice.service.history.tools import heading_of


@dataclass(frozen=True)
class HistoryCommand:
    """With `query` a search, else the entries `ids`, whole."""

    source: str
    query: str | None = None
    ids: tuple[str, ...] = ()
    scope: RecallScope = "conversation"
    max_tokens: int = 4000
    cursor: str | None = None
    workspace: Path | None = None
    as_json: bool = False

    async def __call__(self) -> None:
        """Search or read the history, and print what was found. UsageError for a question without words."""
        if self.query is not None and not self.query.strip():
            raise UsageError("The question is empty; name what to look for.")
        async with opened(self.source, self.workspace) as conversation:
            warn(conversation.warnings)
            params = RecallParams(
                conversation_id=conversation.id,
                query=self.query,
                entry_ids=list(self.ids) or None,
                scope=self.scope,
                max_tokens=self.max_tokens,
                cursor=self.cursor,
            )
            found = await conversation.service.recall.recall(params)
        if self.as_json:
            write_json(found.model_dump(mode="json", by_alias=True))
            return
        for item in found.items:
            write_text(_shown(item))
        if not found.items:
            warn(["Nothing was found."])
        if found.next_cursor is not None:
            warn([f"There is more: give the command again with --cursor {found.next_cursor}."])


def _shown(item: RecallItem) -> str:
    return plain(f"{heading_of(item)}\n{item.text.rstrip()}\n")
