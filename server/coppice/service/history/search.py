"""Finds the pieces of entries that answer a question, in a conversation or a workspace."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from coppice.errors import UnknownEntryError
from coppice.protocol.history import is_history_tool
from coppice.service.history.ranking import (
    MAX_CANDIDATES,
    SUMMARY_TYPES,
    Hit,
    Ranked,
    choose_candidates,
    ranked,
    rarities,
)
from coppice.store.search.recalling import RecallRow, Where
from coppice.store.search.search_text import parts_of, shortened
from coppice.store.store import Store
from coppice.store.words.pieces import KEYS_PER_ENTRY, pieces_of
from coppice.tree.authorship import authorship, runs

MAX_POSTINGS: Final = 1000
"""The newest pieces that a stem is looked up in. recall_tools.py: with 300 the pages of 2,000 tokens hold one
answer of 85 less in one item, with 3,000 none more."""
MAX_EXAMINED: Final = 5 * MAX_CANDIDATES
"""Candidates of which those on other paths are left out. recall_tools.py: 300 and 6,000 find the same."""
MAX_HITS: Final = 120
"""Pieces whose entries are read. At 400 characters they fill three pages of 4,000 tokens."""
_REPEATED_SHARE: Final = 0.6
"""A piece of whose lines so many were given already is left out. recall_tools.py: with 0.8 two answers of 85
less."""
_LINE_CHARS: Final = 20
"""Shorter lines repeat by chance."""
_JOINED_SHARE: Final = 0.3
"""Of the score of a piece, what the next one needs to be shown with it. recall_tools.py: with 0.5 the pages
of 2,000 tokens hold two answers of 85 less in one item."""
_JOINED_PIECES: Final = 3
"""Pieces that are shown as one text. Without a limit an entry fills the page."""
_NUMBERED: Final = re.compile(r"\s{0,20}\d{1,9}\s?[→:|\t-]?\s?")
"""What a listing writes before a line."""


def search(
    store: Store,
    stems: Mapping[str, float],
    where: Where,
    *,
    on_path: bool = False,
    for_model: bool = False,
    check: Callable[[], None] = lambda: None,
    readable: Callable[[str], str] = str,
) -> list[Hit]:
    """The pieces that hold something of what is asked for, the best first, each text once.

    Only what is in the index is looked through, with `on_path` only entries on the current path of their
    conversation. `for_model` leaves out the messages that the user excluded from the context. `readable`
    makes of an entry's text what may be shown, of the same length; `check` is called between the steps.
    """
    postings = store.recall_postings(list(stems), where, MAX_POSTINGS)
    check()
    keys = choose_candidates(stems, postings)[:MAX_EXAMINED]
    if on_path:
        here = set(store.recall_on_path(list(dict.fromkeys(key // KEYS_PER_ENTRY for key in keys))))
        keys = [key for key in keys if key // KEYS_PER_ENTRY in here]
    pieces = store.recall_pieces(keys[:MAX_CANDIDATES])
    check()
    best = ranked(rarities(stems, postings), pieces)[:MAX_HITS]
    rows = _readable_rows(store, [each.piece.entry_key for each in best], for_model=for_model)
    check()
    return _with_sources(_joined(_without_repeats(_hits(best, rows, readable))), store)


def whole_entries(store: Store, keys: Sequence[int], *, for_model: bool) -> list[Hit]:
    """The entries with these keys that have text, each whole, or in parts where it is the user's in part."""
    hits = []
    for row in _readable_rows(store, keys, for_model=for_model).values():
        text, marks = _text_and_marks(row)
        parts = list(runs(text, marks))
        hits += [Hit(row, part, 0.0, whole=len(parts) == 1, added=added) for added, part in parts]
    return hits


def _text_and_marks(row: RecallRow) -> tuple[str, str]:
    """The whole text of an entry, and whose each character is."""
    parts = parts_of(row.type, row.body)
    text = "\n".join(parts)
    return text, authorship(parts) if row.role == "user" else "u" * len(text)


def _readable_rows(store: Store, keys: Sequence[int], *, for_model: bool) -> dict[int, RecallRow]:
    """The entries by their keys. Results of the history tools are left out: they repeat others."""
    return {
        row.key: row
        for row in store.recall_rows(list(dict.fromkeys(keys)))
        if not is_history_tool(row.tool_name) and not (for_model and row.message.get("excludeFromContext"))
    }


def _hits(
    best: Sequence[Ranked], rows: Mapping[int, RecallRow], readable: Callable[[str], str]
) -> Iterator[tuple[Hit, int]]:
    """The hits with the numbers of their pieces: two of a piece that is the user's in part."""
    texts: dict[int, tuple[str, str, list[tuple[int, int]]]] = {}
    for each in best:
        key, number = divmod(each.piece.key, KEYS_PER_ENTRY)
        row = rows.get(key)
        if row is None:
            continue
        if key not in texts:
            text, marks = _text_and_marks(row)
            texts[key] = shortened(text, readable), shortened(marks), pieces_of(shortened(text))
        text, marks, places = texts[key]
        if number < len(places):
            start, end = places[number]
            parts: defaultdict[bool, str] = defaultdict(str)
            for added, part in runs(text[start:end], marks[start:end]):
                parts[added] += part
            is_whole = len(places) == len(parts) == 1
            for added, part in parts.items():
                yield Hit(row, part, each.score, whole=is_whole, added=added), number


def _without_repeats(hits: Iterator[tuple[Hit, int]]) -> Iterator[tuple[Hit, int]]:
    """The hits without those whose lines were given already, mostly; listings of the same file, for one."""
    given: set[int] = set()
    for hit, number in hits:
        stripped = (_NUMBERED.sub("", line, count=1).strip() for line in hit.text.splitlines())
        lines = {hash(line) for line in stripped if len(line) > _LINE_CHARS}
        if lines and len(lines & given) > _REPEATED_SHARE * len(lines):
            continue
        given |= lines
        yield hit, number


def _joined(hits: Iterator[tuple[Hit, int]]) -> list[Hit]:
    """The hits, each with those beside it in its entry that are about as good, as one text."""
    joined: list[tuple[Hit, int, int]] = []
    places: dict[tuple[int, bool, int], int] = {}
    for hit, number in hits:
        key = hit.row.key, hit.added
        before, after = places.get((*key, number - 1)), places.get((*key, number + 1))
        place = after if before is None else before
        if place is not None:
            other, first, last = joined[place]
            is_next = number == last + 1
            is_beside = is_next or number == first - 1
            if is_beside and last - first < _JOINED_PIECES - 1 and hit.score >= _JOINED_SHARE * other.score:
                text = other.text + hit.text if is_next else hit.text + other.text
                joined[place] = (replace(other, text=text), min(first, number), max(last, number))
                places[*key, number] = place
                continue
        places[*key, number] = len(joined)
        joined.append((hit, number, number))
    return [hit for hit, _, _ in joined]


def _with_sources(hits: Sequence[Hit], store: Store) -> list[Hit]:
    """The hits, each summary after the first hit that it summarizes, and none without one."""
    shown: list[Hit] = []
    waiting: list[tuple[Hit, int]] = []
    sources: list[RecallRow] = []
    for hit in hits:
        row = hit.row
        if row.type in SUMMARY_TYPES:
            end = _end_of_span(row, store)
            if any(_summarizes(row, end, source) for source in sources):
                shown.append(hit)
            else:
                waiting.append((hit, end))
            continue
        shown.append(hit)
        sources.append(row)
        ready = [each for each in waiting if _summarizes(each[0].row, each[1], row)]
        shown += [summary for summary, _ in ready]
        waiting = [each for each in waiting if each not in ready]
    return shown


def _end_of_span(summary: RecallRow, store: Store) -> int:
    """The key before which the entries lie that a summary replaces or describes."""
    first_kept = summary.body.get("firstKeptEntryId")
    if summary.type != "compaction" or not isinstance(first_kept, str):
        return summary.key
    try:
        return store.key_of(summary.conversation_id, first_kept)
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
