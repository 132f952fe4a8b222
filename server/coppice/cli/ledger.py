"""`coppice ledger`: the user's messages and the state of the work."""

import sys
from pathlib import Path

from coppice.cli.plain import plain
from coppice.cli.sources import opened
from coppice.cli.terminal import warn, write_json, write_text
from coppice.compaction.writing.state_lines import state_section
from coppice.compaction.writing.user_messages import user_messages_section
from coppice.protocol.ledger import LedgerParams


async def show_ledger(source: str, workspace: Path | None, leaf: str | None, *, as_json: bool) -> None:
    """Print the user's messages on a path, and the state of the work at its end."""
    async with opened(source, workspace) as conversation:
        params = LedgerParams(conversation_id=conversation.id, leaf_id=leaf)
        result = await conversation.service.views.ledger(params)
    if as_json:
        write_json(result)
        return
    if result.not_read:
        warn([f"Computed without the oldest {result.not_read:,} entries since the last compaction."])
    ledger = result.ledger
    messages = user_messages_section(ledger.messages, sys.maxsize, len, {})
    state = state_section(ledger.state, sys.maxsize, len, {})
    write_text(plain("\n\n".join(filter(None, (messages, state)))) or "The conversation has no messages.")
