"""`coppice search`: entries found by their text."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.text import Text

from coppice.cli.exits import UsageError
from coppice.cli.plain import plain_line
from coppice.cli.running import serving, workspace_uri
from coppice.cli.sources import located
from coppice.cli.terminal import console, print_row, write_json, write_text
from coppice.protocol.navigation import SearchHit, SearchParams, SearchResult
from coppice.service.conversations.searching import Searching

_TIME_CHARS: Final = 16  # characters of an ISO time up to the minute
_MOST_CHARS: Final = 1000  # characters; the limit of `coppice/conversation/search`
_ON, _OFF = "●", "○"


@dataclass(frozen=True)
class SearchCommand:
    """`coppice search`: full-text search over the stored conversations."""

    query: str
    workspace: Path | None = None
    conversation: str | None = None
    limit: int = 50
    as_json: bool = False

    async def __call__(self) -> None:
        """Print the hits, newest first."""
        found = await self._found()
        if self.as_json:
            write_json(found.model_dump(mode="json", by_alias=True))
        else:
            self._show(found.hits)

    async def _found(self) -> SearchResult:
        if not 0 < len(self.query) <= _MOST_CHARS:
            raise UsageError(f"A query has 1 to {_MOST_CHARS:,} characters.")
        conversation, uri = self.conversation, workspace_uri(self.workspace)
        if conversation is not None:
            conversation, uri = await asyncio.to_thread(located, conversation, self.workspace)
        params = SearchParams(query=self.query, conversation_id=conversation, limit=self.limit)
        async with serving(uri) as service:
            return await Searching(service).search(params)

    def _show(self, hits: list[SearchHit]) -> None:
        out = console()
        if not out.is_terminal:
            for hit in hits:
                write_text("\t".join(_cells(hit)))
            return
        if not hits:
            out.print("Nothing was found.")
        conversation = None
        for hit in hits:
            if hit.conversation_id != conversation:
                conversation = hit.conversation_id
                out.print(Text(plain_line(conversation), style="bold"))
            _, entry, time, _, snippet = _cells(hit)
            dot = _ON if hit.on_current_branch else _OFF
            out.print(Text.assemble(f"{dot} ", (entry, "cyan"), f"  {time[:_TIME_CHARS].replace('T', ' ')}"))
            print_row(out, Text(f"  {snippet}"))


def _cells(hit: SearchHit) -> tuple[str, str, str, str, str]:
    where = "current" if hit.on_current_branch else "elsewhere"
    return (
        plain_line(hit.conversation_id),
        plain_line(hit.entry_id),
        plain_line(hit.timestamp),
        where,
        plain_line(hit.snippet),
    )
