"""The use case `coppice/truncateToolResults`: too long tool results are cut, on a branch of their own."""

from collections.abc import Sequence
from dataclasses import dataclass

from coppice.protocol.recovery import TruncateToolResultsParams, TruncateToolResultsResult
from coppice.protocol.usage import UsageState
from coppice.recovery.decision import left_out_sentence
from coppice.recovery.request_size import RequestSize
from coppice.recovery.truncation import is_left_out, plan, result_limit
from coppice.service.branches.replay import COPIED_METADATA, replayed
from coppice.service.core.client_turns import Turns
from coppice.service.core.context import Context, now
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.window.measuring import measure
from coppice.service.window.usage import Counter, usage_state
from coppice.tokens.measuring import size_of_message
from coppice.tree.clearing import cleared_ids
from coppice.tree.entries import MessageEntry
from coppice.tree.messages import Message, ToolResultMessage
from coppice.tree.view import ViewMessage


@dataclass(frozen=True, slots=True)
class Truncation:
    """`count` results were cut, `left_out` of them to nothing; `leaf_id` is the conversation's leaf now."""

    count: int
    leaf_id: str | None
    left_out: int = 0


class Truncating:
    """The use case `coppice/truncateToolResults`."""

    def __init__(self, context: Context, turns: Turns) -> None:
        self._context = context
        self._turns = turns

    async def truncate(self, params: TruncateToolResultsParams) -> TruncateToolResultsResult:
        """The original branch stays as it was. A pinned result is not cut."""
        conversation_id = params.conversation_id
        await self._turns.refuse_if_busy(conversation_id)
        done = await self.cut(conversation_id, params.context_window)
        return TruncateToolResultsResult(
            truncated=done.count > 0,
            truncated_count=done.count,
            reason=left_out_sentence(done.left_out)
            if done.count
            else "No tool result is too long, and together they leave enough room.",
            left_out_count=done.left_out,
            leaf_id=done.leaf_id,
        )

    async def cut(
        self, conversation_id: str, context_window: int | None = None, *, overhead_tokens: int | None = None
    ) -> Truncation:
        """Cuts the results that are too long for a window, by default the settings' model's.

        `overhead_tokens` is what is known to be sent with the view.
        """

        def write() -> tuple[Truncation, UsageState | None]:
            path = self._context.path(conversation_id)
            window = context_window or path.settings.model.context_window
            done, after = path.retry_at_leaf(lambda at: _truncate(at, window, overhead_tokens))
            return done, usage_state(after, window) if done.count else None

        done, usage = await self._context.write(conversation_id, write)
        if usage is not None:
            self._context.announce(conversation_id, done.leaf_id, "entries", "leaf")
            self._context.announce_usage(conversation_id, usage)
        return done


def fitted_view(path: ConversationPath, context_window: int) -> tuple[list[ViewMessage], int]:
    """The view with its tool results cut as a truncation would cut them, and how many tokens that saves.

    Nothing is stored. Reads the store.
    """
    view, counter = path.view(), Counter(path.settings)
    cuts = _plan(path, view, measure(path, context_window))
    whole = sum(counter.tokens(size_of_message(view[place].message)) for place in cuts)
    short = sum(counter.tokens(size_of_message(message)) for message in cuts.values())
    fitted = [ViewMessage(item.entry_id, cuts.get(place, item.message)) for place, item in enumerate(view)]
    return fitted, whole - short


def _truncate(
    path: ConversationPath, context_window: int, overhead_tokens: int | None
) -> tuple[Truncation, ConversationPath]:
    entries = path.entries()
    view = [ViewMessage(entry.id, entry.message) for entry in entries if isinstance(entry, MessageEntry)]
    cuts = _plan(path, view, measure(path, context_window, overhead_tokens=overhead_tokens))
    if path.end is None or not cuts:
        return Truncation(0, path.leaf_id), path
    changed: dict[str, Message] = {view[place].entry_id or "": message for place, message in cuts.items()}
    first = next(index for index, entry in enumerate(entries) if entry.id in changed)
    above = path.first_depth + first - 1
    already = len(path.store.attached(path.end, above, above, COPIED_METADATA))
    done = path.store.append(
        path.conversation.id,
        replayed(path.store, path.end, above, changed)[already:],
        parent_id=entries[first].parent_id,
        expected_leaf_id=path.end.id,
        modified_at=now(),
    )
    return Truncation(len(cuts), done.leaf_id, sum(map(is_left_out, cuts.values()))), path.after(done)


def _plan(
    path: ConversationPath, view: Sequence[ViewMessage], measured: RequestSize
) -> dict[int, ToolResultMessage]:
    """The results of `view` that are cut, as they are then, by their places in it."""
    if path.end is None:
        return {}
    counter = Counter(path.settings)
    return plan(
        view,
        limit=result_limit(measured.window),
        excess=measured.view_tokens - measured.target,
        count_tokens=lambda message: counter.tokens(size_of_message(message)),
        pinned={entry.id for _, entry in path.store.pins(path.end)} | cleared_ids(path.entries()),
    )
