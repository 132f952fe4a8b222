"""The use case `coppice/ledger`: the facts about the work of a conversation."""

from coppice.compaction.ledger.bounds import bounded
from coppice.protocol.ledger import LedgerParams, LedgerResult, WorkLedger
from coppice.service.compaction.work_ledger import ledger_until
from coppice.service.core.context import Context
from coppice.service.core.workers import run_long


class LedgerView:
    """The use case `coppice/ledger`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def ledger(self, params: LedgerParams) -> LedgerResult:
        """Continues from the ledger of the last compaction; before the first it reads the whole path."""

        def read() -> LedgerResult:
            path = self._context.path(params.conversation_id, params.leaf_id)
            work = ledger_until(path, path.end.depth) if path.end is not None else WorkLedger()
            files = path.ledger()
            return LedgerResult(
                leaf_id=path.end.id if path.end is not None else None,
                ledger=bounded(work),
                read_files=files.read_files,
                modified_files=files.modified_files,
                deleted_files=files.deleted_files,
            )

        return await run_long(read)
