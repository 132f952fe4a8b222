"""`coppice ledger`: the facts about the work of a conversation."""

import sys
from pathlib import Path

from coppice.cli.plain import plain
from coppice.cli.sources import opened
from coppice.cli.terminal import write_json, write_text
from coppice.compaction.ledger.fitting import facts_text
from coppice.protocol.ledger import LedgerParams


async def show_ledger(source: str, workspace: Path | None, leaf: str | None, *, as_json: bool) -> None:
    """Print the facts computed from a path."""
    async with opened(source, workspace) as conversation:
        params = LedgerParams(conversation_id=conversation.id, leaf_id=leaf)
        result = await conversation.service.views.ledger(params)
    if as_json:
        write_json(result)
        return
    text = facts_text(result.ledger, sys.maxsize, len, least=0)
    write_text(plain(text) or "Nothing is known of this conversation's work.")
