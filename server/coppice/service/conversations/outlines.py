"""The use cases `coppice/outline` and `coppice/branchEnd`."""

from coppice.protocol.outline import (
    BranchEndParams,
    BranchEndResult,
    OutlineCompaction,
    OutlineFork,
    OutlineMark,
    OutlineParams,
    OutlineResult,
)
from coppice.service.core.context import Context
from coppice.service.core.workers import run_read
from coppice.store.records import LEAF


class Outlines:
    """The use case `coppice/outline`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def outline(self, params: OutlineParams) -> OutlineResult:
        """The shape of a path. The cost follows what is listed, not the length of the path."""

        def read() -> OutlineResult:
            store = self._context.stores.of_conversation(params.conversation_id)
            end = store.end(params.conversation_id, LEAF if params.leaf_id is None else params.leaf_id)
            if end is None:
                return OutlineResult(leaf_id=None, length=0, compactions=[], marks=[], forks=[])
            found = store.outline(end)
            return OutlineResult(
                leaf_id=end.id,
                length=end.depth + 1,
                compactions=[
                    OutlineCompaction.model_validate(each, from_attributes=True) for each in found.compactions
                ],
                marks=[
                    OutlineMark(entry_id=mark.entry_id, label=mark.label, pinned=mark.pinned or None)
                    for mark in found.marks
                ],
                forks=[OutlineFork.model_validate(fork, from_attributes=True) for fork in found.forks],
            )

        return await run_read(read)

    async def branch_end(self, params: BranchEndParams) -> BranchEndResult:
        """Where a branch that begins at an entry was left last."""

        def read() -> BranchEndResult:
            store = self._context.stores.of_conversation(params.conversation_id)
            return BranchEndResult(leaf_id=store.branch_end(params.conversation_id, params.entry_id))

        return await run_read(read)
