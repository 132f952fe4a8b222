"""The use case `coppice/recall`: finds and reads earlier entries, word for word."""

from collections.abc import Sequence
from typing import Final

from coppice.errors import UnknownEntryError
from coppice.protocol.history import HISTORY_TOOLS, RecallItem, RecallParams, RecallResult
from coppice.service.core.context import Context
from coppice.service.core.progress import Progress
from coppice.service.core.thread_work import ThreadWork, run_in_thread
from coppice.service.history.calls import CallOf, calls_of_results
from coppice.service.history.pieces import PIECE_CHARS
from coppice.service.history.query import Query, parse_query
from coppice.service.history.ranking import (
    ERROR_WEIGHT,
    MAX_CANDIDATES,
    PROSE_WEIGHT,
    SUMMARY_TYPES,
    SUMMARY_WEIGHT,
    Hit,
    Source,
    choose_candidates,
    ranked_hits,
    without_repeats,
)
from coppice.store.indexing import Scope
from coppice.store.recalling import RecallRow, Where
from coppice.store.search_text import whole_text
from coppice.store.store import Store
from coppice.tokens.counting import estimate_tokens

MAX_POSTINGS: Final = 300
"""The newest entries that a word is looked up in. A guess; with 60 recall_tools.py finds the same."""
MAX_EXAMINED: Final = 5 * MAX_CANDIDATES
"""Candidates of which those on other paths are left out. A guess."""
_PROSE_ROLES: Final = frozenset({"user", "assistant"})
_ITEM_CHARS: Final = 4
"""Characters of a token in English prose, as `estimate_tokens` counts."""

_TOOL_NAME_CHARS: Final = 200
"""Characters of a tool's name. A guess: providers allow 64 or 128."""
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
            return _page(params, _whole_entries(store, keys, for_model=for_model), store)
        scope = Scope(workspace_uri=workspace)
        if params.scope != "workspace":
            scope = Scope(conversation_id=params.conversation_id)
        after, before = (
            None if entry_id is None else store.key_of(params.conversation_id, entry_id)
            for entry_id in (params.after, params.before)
        )
        where = Where(scope, after, before)
        query = parse_query(params.query or "")
        if params.query is not None:
            postings = store.recall_postings([group.terms for group in query.groups], where, MAX_POSTINGS)
            thread.check()
            keys = choose_candidates(query, postings)[:MAX_EXAMINED]
        else:
            keys = store.recall_newest(where, MAX_EXAMINED)
        if params.scope == "path":
            keys = store.recall_on_path(keys)
        if params.query is None:
            return _page(params, _whole_entries(store, keys, for_model=for_model), store)
        sources = _sources(store.recall_rows(keys[:MAX_CANDIDATES]), query, for_model=for_model)
        thread.check()
        hits = without_repeats(ranked_hits(query, sources))
        return _page(params, _with_sources(hits, store), store)


def _sources(rows: Sequence[RecallRow], query: Query | None = None, *, for_model: bool) -> list[Source]:
    """The entries that have text, with how much their kind counts. Results of the history tools are not
    sources: they repeat others. Messages excluded from the context are no sources `for_model`.
    """
    sources = []
    for row in rows:
        if row.tool_name in HISTORY_TOOLS or (for_model and row.message.get("excludeFromContext")):
            continue
        text = whole_text(row.type, row.body)
        if text.strip():
            sources.append(Source(row, text, _weight(row, query)))
    return sources


def _weight(row: RecallRow, query: Query | None) -> float:
    if row.type in SUMMARY_TYPES:
        return SUMMARY_WEIGHT
    if row.message.get("isError") and query is not None and query.about_errors:
        return ERROR_WEIGHT
    return PROSE_WEIGHT if row.role in _PROSE_ROLES else 1.0


def _whole_entries(store: Store, keys: Sequence[int], *, for_model: bool) -> list[Hit]:
    sources = _sources(store.recall_rows(keys), for_model=for_model)
    return [Hit(source, source.text, 0.0, whole=True) for source in sources]


def _with_sources(hits: Sequence[Hit], store: Store) -> list[Hit]:
    """The hits, each summary after the first hit that it summarizes, and none without one."""
    shown: list[Hit] = []
    waiting: list[tuple[Hit, int]] = []
    sources: list[RecallRow] = []
    for hit in hits:
        row = hit.source.row
        if row.type in SUMMARY_TYPES:
            end = _end_of_span(row, store)
            if any(_summarizes(row, end, source) for source in sources):
                shown.append(hit)
            else:
                waiting.append((hit, end))
            continue
        shown.append(hit)
        sources.append(row)
        ready = [each for each in waiting if _summarizes(each[0].source.row, each[1], row)]
        shown += [summary for summary, _ in ready]
        waiting = [each for each in waiting if each not in ready]
    return shown


def _end_of_span(summary: RecallRow, store: Store) -> int:
    """The key before which the entries lie that a summary replaces or describes."""
    kept = summary.body.get("firstKeptEntryId")
    if summary.type != "compaction" or not isinstance(kept, str):
        return summary.key
    try:
        return store.key_of(summary.conversation_id, kept)
    except UnknownEntryError:
        return summary.key


def _summarizes(summary: RecallRow, end: int, source: RecallRow) -> bool:
    """Whether `source` is in the span of `summary`: before its end and, where the current path tells, on the
    summary's path if that is a compaction and on another if it describes a branch.
    """
    if source.conversation_id != summary.conversation_id or source.key >= end:
        return False
    if not summary.on_current_path:
        return True
    return source.on_current_path == (summary.type == "compaction")


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
            text = _head(text, left)
            chosen.append((hit, text, True))
            start += len(text)
            break
        left -= tokens
        chosen.append((hit, text, start > 0 or not hit.whole))
        number, start = number + 1, 0
    calls = calls_of_results(store, [hit.source.row for hit, _, _ in chosen])
    items = [_item(hit, text, calls.get(hit.source.row.key), truncated=cut) for hit, text, cut in chosen]
    return RecallResult(items=items, next_cursor=f"{number}:{start}" if number < len(hits) else None)


def _head(text: str, tokens: int) -> str:
    """The beginning of `text` that has at most so many tokens."""
    head = text[: tokens * _ITEM_CHARS]
    while len(head) > 1 and estimate_tokens(head) > tokens:
        head = head[: len(head) // 2]
    return head


def _start(text: str | None, chars: int) -> str | None:
    return None if text is None else text[:chars]


def _item(hit: Hit, text: str, call: CallOf | None, *, truncated: bool) -> RecallItem:
    row = hit.source.row
    return RecallItem(
        conversation_id=row.conversation_id,
        entry_id=row.entry_id,
        timestamp=row.timestamp,
        type=row.type,
        role=row.role,
        tool_name=_start(row.tool_name, _TOOL_NAME_CHARS),
        call=call.arguments if call else None,
        path=_start(call.path, _PATH_CHARS) if call else None,
        text=text,
        tokens=estimate_tokens(text),
        on_current_path=row.on_current_path,
        truncated=True if truncated else None,
    )
