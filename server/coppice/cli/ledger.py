"""`coppice ledger`: the facts about the work of a conversation."""

import sys
from dataclasses import dataclass
from pathlib import Path

from coppice.cli.sources import opened
from coppice.cli.terminal import warn, write_json, write_text
from coppice.compaction.ledger.fitting import facts_text
from coppice.protocol.ledger import LedgerParams


@dataclass(frozen=True)
class LedgerCommand:
    """`coppice ledger`: the facts computed from a path."""

    source: str
    workspace: Path | None = None
    leaf: str | None = None
    as_json: bool = False

    async def __call__(self) -> None:
        """Print the ledger."""
        async with opened(self.source, self.workspace) as conversation:
            warn(conversation.warnings)
            params = LedgerParams(conversation_id=conversation.id, leaf_id=self.leaf)
            result = await conversation.service.ledger.ledger(params)
        if self.as_json:
            write_json(result.model_dump(mode="json", by_alias=True))
            return
        text = facts_text(result.ledger, sys.maxsize, len, least=0)
        write_text(text or "Nothing is known of this conversation's work.")
