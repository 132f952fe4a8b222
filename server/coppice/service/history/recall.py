"""The use case `coppice/recall`: finds and reads earlier entries, word for word."""

from collections.abc import Sequence
from typing import Final

from coppice.protocol.history import RecallItem, RecallParams, RecallResult
from coppice.service.core.context import Context
from coppice.service.core.progress import Progress
from coppice.service.core.thread_work import ThreadWork, run_in_thread
from coppice.service.history.calls import CallOf, calls_of_results
from coppice.service.history.query import stems_asked_for
from coppice.service.history.search import MAX_EXAMINED, Hit, search, whole_entries
from coppice.store.search.indexing import MAX_KEY, Scope
from coppice.store.search.recalling import Where
from coppice.store.store import Store
from coppice.store.words.pieces import PIECE_CHARS
from coppice.tokens.counting import estimate_tokens

_ITEM_CHARS: Final = 4
"""Characters of a token in English prose, as `estimate_tokens` counts."""

_TOOL_NAME_CHARS: Final = 200
"""Characters of a tool's name. Providers allow 64 or 128."""
_PATH_CHARS: Final = 4096
"""Characters of a path: PATH_MAX of Linux."""


class Recall:
    """Searches and reads the history of a conversation or a workspace."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def recall(
        self, params: RecallParams, progress: Progress | None = None, *, for_model: bool = False
    ) -> RecallResult:
        """A page of what answers the query, of the entries named, or of the newest entries.

        `for_model` leaves out the messages that the user excluded from the context.
        Raises UnknownConversationError, and UnknownEntryError for an id that the conversation does not have.
        """
        result = await run_in_thread(
            lambda thread: self._recall(params, thread, for_model=for_model), progress, title="Recalling"
        )
        if progress is not None:
            progress.end(f"{len(result.items):,} found")
        return result

    def _recall(self, params: RecallParams, thread: ThreadWork, *, for_model: bool) -> RecallResult:
        store = self._context.stores.of_conversation(params.conversation_id)
        workspace = store.conversation(params.conversation_id).workspace_uri
        if params.entry_ids is not None:
            keys = [store.key_of(params.conversation_id, entry_id) for entry_id in params.entry_ids]
            return _page(params, whole_entries(store, keys, for_model=for_model), store)
        scope = Scope(workspace_uri=workspace)
        if params.scope != "workspace":
            scope = Scope(conversation_id=params.conversation_id)
        after, before = (
            None if entry_id is None else store.key_of(params.conversation_id, entry_id)
            for entry_id in (params.after, params.before)
        )
        where = Where(scope, after or 0, before or MAX_KEY)
        on_path = params.scope == "path"
        if params.query is None:
            keys = store.recall_newest(where, MAX_EXAMINED)
            if on_path:
                keys = store.recall_on_path(keys)
            return _page(params, whole_entries(store, keys, for_model=for_model), store)
        stems = stems_asked_for(params.query)
        store.make_searchable(scope, thread.indexing())
        ranking = search(store, stems, where, on_path=on_path, for_model=for_model)
        return _page(params, ranking.hits, store)


def _page(params: RecallParams, hits: Sequence[Hit], store: Store) -> RecallResult:
    """The hits from the cursor on, as many as fit. The cursor is a hit's number and a place in its text."""
    number, start = map(int, (params.cursor or "0:0").split(":"))
    left = params.max_tokens
    chosen: list[tuple[Hit, str, bool]] = []
    while number < len(hits) and len(chosen) < params.limit:
        hit = hits[number]
        text = hit.text[start:]
        tokens = estimate_tokens(text)
        if tokens > left:
            if chosen and (left < PIECE_CHARS // _ITEM_CHARS or not hit.whole):
                break
            text = head_of(text, left)
            chosen.append((hit, text, True))
            start += len(text)
            break
        left -= tokens
        chosen.append((hit, text, start > 0 or not hit.whole))
        number, start = number + 1, 0
    calls = calls_of_results(store, [hit.row for hit, _, _ in chosen])
    items = [_item(hit, text, calls.get(hit.row.key), truncated=cut) for hit, text, cut in chosen]
    return RecallResult(items=items, next_cursor=f"{number}:{start}" if number < len(hits) else None)


def head_of(text: str, tokens: int) -> str:
    """The beginning of `text` that has at most so many tokens."""
    head = text[: max(1, tokens * _ITEM_CHARS)]
    while len(head) > 1 and estimate_tokens(head) > tokens:
        head = head[: len(head) // 2]
    return head


def _start(text: str | None, chars: int) -> str | None:
    return None if text is None else text[:chars]


def _item(hit: Hit, text: str, call: CallOf | None, *, truncated: bool) -> RecallItem:
    row = hit.row
    return RecallItem(
        conversation_id=row.conversation_id,
        entry_id=row.entry_id,
        timestamp=row.timestamp,
        type=row.type,
        role=row.role,
        attached=True if hit.added else None,
        tool_name=_start(row.tool_name, _TOOL_NAME_CHARS),
        call=call.arguments if call else None,
        path=_start(call.path, _PATH_CHARS) if call else None,
        text=text,
        tokens=estimate_tokens(text),
        on_current_path=row.on_current_path,
        truncated=True if truncated else None,
    )
