"""`coppice search`: entries found by their text."""

import asyncio
from pathlib import Path
from typing import Final

from rich.text import Text

from coppice.cli.exits import UsageError
from coppice.cli.plain import plain_line
from coppice.cli.running import serving, workspace_uri
from coppice.cli.sources import located
from coppice.cli.terminal import console, print_row, write_json, write_text
from coppice.protocol.navigation import SearchHit, SearchParams

_TIME_CHARS: Final = 16  # characters of an ISO time up to the minute
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
        result = await service.searching.search(params)
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
        time = plain_line(hit.timestamp)[:_TIME_CHARS].replace("T", " ")
        out.print(Text.assemble(f"{dot} ", (plain_line(hit.entry_id), "cyan"), f"  {time}"))
        print_row(out, Text(f"  {plain_line(hit.snippet)}"))
