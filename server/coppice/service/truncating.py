"""The use case `coppice/truncateToolResults`: too long tool results are cut, on a branch of their own."""

import asyncio
from dataclasses import dataclass

from coppice.errors import StaleLeafError
from coppice.recovery.truncation import Candidate, plan, result_limit, truncated_view
from coppice.service.context import Context, now
from coppice.service.copying import COPIED_METADATA, replayed
from coppice.service.measuring import Measured, measure
from coppice.service.messages.recovery import TruncateToolResultsParams, TruncateToolResultsResult
from coppice.service.messages.usage import UsageState
from coppice.service.path_reading import Path, read_path
from coppice.service.usage import Counter, usage_state
from coppice.tokens.measuring import size_of_message
from coppice.tree.entries import Entry, MessageEntry
from coppice.tree.messages import Message, ToolResultMessage
from coppice.tree.view import ViewMessage

_TRIES = 3


@dataclass(frozen=True, slots=True)
class Truncation:
    """`count` results were cut; `leaf_id` is where the conversation stands now."""

    count: int
    leaf_id: str | None


class Truncating:
    def __init__(self, context: Context) -> None:
        self._context = context

    async def truncate(self, params: TruncateToolResultsParams) -> TruncateToolResultsResult:
        """The original branch stays as it was. A pinned result is not cut."""
        conversation_id = params.conversation_id
        self._context.jobs.refuse_if_busy(conversation_id)
        window = params.context_window or (await self._path(conversation_id)).settings.model.context_window
        done = await self.attempt(conversation_id, window)
        return TruncateToolResultsResult(
            truncated=done.count > 0,
            truncated_count=done.count,
            reason=None if done.count else "No tool result is too long, and together they leave enough room.",
            leaf_id=done.leaf_id,
        )

    async def attempt(
        self, conversation_id: str, context_window: int, *, beside: int | None = None
    ) -> Truncation:
        """The same within a job. `beside` is what is known to be sent beside the view, in tokens."""
        path = await self._path(conversation_id)

        def write() -> tuple[Truncation, UsageState | None]:
            for remaining in reversed(range(_TRIES)):
                try:
                    done = _truncate(path.again(), context_window, beside)
                except StaleLeafError:
                    if not remaining:
                        raise
                else:
                    return done, usage_state(path.again(), context_window) if done.count else None
            raise AssertionError  # pragma: no cover - the last try returns or raises

        done, usage = await self._context.write(conversation_id, write)
        if usage is not None:
            self._context.announce(conversation_id, done.leaf_id, "entries", "leaf")
            self._context.announce_usage(conversation_id, usage)
        return done

    async def _path(self, conversation_id: str) -> Path:
        def read() -> Path:
            store = self._context.stores.of_conversation(conversation_id)
            workspace = store.conversation(conversation_id).workspace_uri
            return read_path(store, conversation_id, self._context.settings.of(workspace))

        return await asyncio.to_thread(read)


def fitted_view(path: Path, context_window: int) -> tuple[list[ViewMessage], int]:
    """The view with its tool results cut as a truncation would cut them, and how many tokens that saves.

    Nothing is stored. Reads the store.
    """
    view, counter = path.view(), Counter(path.settings)
    if path.end is None:
        return view, 0
    measured = measure(path, context_window)

    def size(message: Message) -> int:
        return counter.tokens(size_of_message(message))

    fitted = truncated_view(
        view,
        limit=result_limit(measured.view.window),
        excess=measured.view.tokens - measured.view.target(measured.floor),
        count_tokens=size,
        pinned=frozenset(entry.id for _, entry in path.store.pins(path.end)),
    )
    changed = [
        (a.message, b.message) for a, b in zip(view, fitted, strict=True) if a.message is not b.message
    ]
    return fitted, sum(size(whole) - size(short) for whole, short in changed)


def _truncate(path: Path, context_window: int, beside: int | None) -> Truncation:
    if path.end is None:
        return Truncation(0, None)
    entries = path.entries()
    changed = _plan(path, entries, measure(path, context_window, beside=beside))
    if not changed:
        return Truncation(0, path.end.id)
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
    return Truncation(len(changed), done.leaf_id)


def _plan(path: Path, entries: list[Entry], measured: Measured) -> dict[str, Message]:
    """The results that are cut, as they are then, by their entries' ids."""
    assert path.end is not None  # noqa: S101 - the caller has looked
    counter = Counter(path.settings)
    pinned = {entry.id for _, entry in path.store.pins(path.end)}
    said = [(entry, entry.message) for entry in entries if isinstance(entry, MessageEntry)]
    results = [(entry, message) for entry, message in said if isinstance(message, ToolResultMessage)]
    cuts = plan(
        [Candidate(message, fixed=entry.id in pinned) for entry, message in results],
        limit=result_limit(measured.view.window),
        excess=measured.view.tokens - measured.view.target(measured.floor),
        count_tokens=lambda message: counter.tokens(size_of_message(message)),
    )
    return {results[index][0].id: message for index, message in cuts.items()}
