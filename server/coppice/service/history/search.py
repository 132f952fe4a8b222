"""Finds the pieces of entries that answer a question, in a conversation or a workspace."""

from collections.abc import Callable, Sequence
from typing import Final

from coppice.errors import UnknownEntryError
from coppice.protocol.history import is_history_tool
from coppice.service.history.query import Query
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
from coppice.store.recalling import RecallRow, Where
from coppice.store.search_text import whole_text
from coppice.store.store import Store

MAX_POSTINGS: Final = 300
"""The newest entries that a word is looked up in. A guess; with 60 recall_tools.py finds the same."""
MAX_EXAMINED: Final = 5 * MAX_CANDIDATES
"""Candidates of which those on other paths are left out. A guess."""
_PROSE_ROLES: Final = frozenset({"user", "assistant"})


def search(
    store: Store,
    query: Query,
    where: Where,
    *,
    on_path: bool = False,
    for_model: bool = False,
    check: Callable[[], None] = lambda: None,
    readable: Callable[[str], str] = str,
) -> list[Hit]:
    """The pieces that hold something of `query`, the best first, each text once.

    With `on_path` only of entries on the current path of their conversation. `for_model` leaves out the
    messages that the user excluded from the context. `readable` makes of an entry's text what may be shown,
    of the same length; `check` is called between the steps.
    """
    postings = store.recall_postings([group.terms for group in query.groups], where, MAX_POSTINGS)
    check()
    keys = choose_candidates(query, postings)[:MAX_EXAMINED]
    if on_path:
        keys = store.recall_on_path(keys)
    rows = store.recall_rows(keys[:MAX_CANDIDATES])
    sources = _sources(rows, query, for_model=for_model, readable=readable)
    check()
    return _with_sources(without_repeats(ranked_hits(query, sources)), store)


def whole_entries(
    store: Store, keys: Sequence[int], *, for_model: bool = False, readable: Callable[[str], str] = str
) -> list[Hit]:
    """The entries with these keys that have text, each whole."""
    sources = _sources(store.recall_rows(keys), for_model=for_model, readable=readable)
    return [Hit(source, source.text, 0.0, whole=True) for source in sources]


def _sources(
    rows: Sequence[RecallRow],
    query: Query | None = None,
    *,
    for_model: bool,
    readable: Callable[[str], str],
) -> list[Source]:
    """The entries that have text, with how much their kind counts. Results of the history tools are not
    sources: they repeat others. Messages excluded from the context are no sources `for_model`.
    """
    sources = []
    for row in rows:
        if is_history_tool(row.tool_name) or (for_model and row.message.get("excludeFromContext")):
            continue
        text = readable(whole_text(row.type, row.body))
        if text.strip():
            sources.append(Source(row, text, _weight(row, query)))
    return sources


def _weight(row: RecallRow, query: Query | None) -> float:
    if row.type in SUMMARY_TYPES:
        return SUMMARY_WEIGHT
    if row.message.get("isError") and query is not None and query.about_errors:
        return ERROR_WEIGHT
    return PROSE_WEIGHT if row.role in _PROSE_ROLES else 1.0


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
