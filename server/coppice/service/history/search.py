"""Finds the pieces of entries that answer a question, in a conversation or a workspace.

A piece counts as much as the stems of the question in it are rare, the more where people or the model wrote
it, and where the entry before or after its own is about the question too.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from coppice.protocol.history import is_history_tool
from coppice.store.search.recalling import RecallRow, Where
from coppice.store.search.search_text import parts_of, shortened
from coppice.store.store import Store
from coppice.store.words.pieces import KEYS_PER_ENTRY, pieces_of
from coppice.tree.authorship import authorship, runs

MAX_POSTINGS: Final = 1000
"""The newest pieces that a stem is looked up in. recall_tools.py: with 300 five answers of 60 about
codex-mise-chain less."""
_MAX_CANDIDATES: Final = 300
"""Pieces that are ranked for one question, those with the rarest stems. recall_tools.py: with 200 and 500 two
more and four less of 205."""
MAX_EXAMINED: Final = 5 * _MAX_CANDIDATES
"""Candidates of which those on other paths are left out. recall_tools.py: 300 and 6,000 find the same."""
_MAX_PIECES: Final = 120
"""Pieces whose entries are read. At 400 characters they fill three pages of 4,000 tokens."""
_PROSE_WEIGHT: Final = 3.0
"""Of what people and the model wrote, against output of tools and summaries. recall_tools.py: without it a
third of the answers is lost."""
_PROSE_ROLES: Final = frozenset({"user", "assistant"})
_NEAR_SHARE: Final = 0.5
"""Of the best score of the entry before or after: a call and its result belong together. recall_tools.py:
without it the pages of 2,000 tokens answer a tenth less."""
_REPEATED_SHARE: Final = 0.6
"""A text of whose lines so many were given already is left out."""
_LINE_CHARS: Final = 20
"""Shorter lines repeat by chance."""
_JOINED_PIECES: Final = 3
"""Pieces that are shown as one text. Without a limit an entry fills the page."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A text of an entry that answers a question. `whole` is set when the entry has no other, `added` when
    an application put it into the user's message.
    """

    row: RecallRow
    text: str
    score: float
    whole: bool
    added: bool = False


class Ranking(NamedTuple):
    """Hits, the best first. `looked_at` is how many pieces were, and `is_whole` that these were all that hold
    something of the question.
    """

    hits: list[Hit]
    is_whole: bool
    looked_at: int


def search(
    store: Store,
    stems: Mapping[str, float],
    where: Where,
    *,
    on_path: bool = False,
    for_model: bool = False,
    readable: Callable[[str], str] = str,
    accepted: Callable[[Sequence[RecallRow]], Collection[int]] | None = None,
) -> Ranking:
    """The pieces that hold something of what is asked for, each text once.

    Only what is in the index is looked through, with `on_path` only entries on the current path of their
    conversation. `for_model` leaves out the messages that the user excluded from the context. `readable`
    makes of an entry's text what may be shown, of the same length. `accepted` gives the keys of those
    entries that are wanted, before any is left out for its rank.
    """
    postings_of = store.recall_postings(list(stems), where, MAX_POSTINGS)
    scores: defaultdict[int, float] = defaultdict(float)
    for weight, postings in zip(stems.values(), postings_of, strict=True):
        for key in postings.keys:
            scores[key] += weight * postings.rarity
    is_whole = len(scores) <= MAX_EXAMINED and all(len(each.keys) < MAX_POSTINGS for each in postings_of)
    keys = sorted(scores, key=lambda key: (-scores[key], -key))[:MAX_EXAMINED]
    if on_path:
        here = set(store.recall_on_path(list({key // KEYS_PER_ENTRY for key in keys})))
        keys = [key for key in keys if key // KEYS_PER_ENTRY in here]
    most = _MAX_CANDIDATES if accepted is None else MAX_EXAMINED
    best = _ranked({key: scores[key] for key in keys[:most]}, store)
    if accepted is not None:
        best = _wanted(best, store, accepted)
    spans = _joined(best[:_MAX_PIECES])
    rows = _readable_rows(store, [keys.start // KEYS_PER_ENTRY for _, keys in spans], for_model=for_model)
    return Ranking(list(_without_repeats(_hits(spans, rows, readable))), is_whole, len(keys[:most]))


def _wanted(
    best: Sequence[tuple[float, int]],
    store: Store,
    accepted: Callable[[Sequence[RecallRow]], Collection[int]],
) -> list[tuple[float, int]]:
    """The best pieces whose entries are accepted, a page's worth; entries are read as they are needed."""
    wanted: list[tuple[float, int]] = []
    for start in range(0, len(best), _MAX_CANDIDATES):
        pieces = best[start : start + _MAX_CANDIDATES]
        keys = dict.fromkeys(key // KEYS_PER_ENTRY for _, key in pieces)
        chosen = frozenset(accepted(store.recall_rows(list(keys))))
        wanted += [(score, key) for score, key in pieces if key // KEYS_PER_ENTRY in chosen]
        if len(wanted) >= _MAX_PIECES:
            break
    return wanted


def _ranked(scores: Mapping[int, float], store: Store) -> list[tuple[float, int]]:
    """The pieces, each with its score by where it is in the history, the best first."""
    entries = store.recall_parents_and_roles(list({key // KEYS_PER_ENTRY for key in scores}))
    weighed = {
        key: score * (_PROSE_WEIGHT if entries[entry][1] in _PROSE_ROLES else 1.0)
        for key, score in scores.items()
        if (entry := key // KEYS_PER_ENTRY) in entries
    }
    best: defaultdict[int | None, float] = defaultdict(float)
    for key, score in weighed.items():
        best[key // KEYS_PER_ENTRY] = max(best[key // KEYS_PER_ENTRY], score)
    best_after: defaultdict[int | None, float] = defaultdict(float)
    for entry, (parent, _) in entries.items():
        best_after[parent] = max(best_after[parent], best[entry])
    ranked = []
    for key, score in weighed.items():
        entry = key // KEYS_PER_ENTRY
        around = max(best[entries[entry][0]], best_after[entry])
        ranked.append((score + _NEAR_SHARE * around, key))
    return sorted(ranked, reverse=True)


def _joined(best: Iterable[tuple[float, int]]) -> list[tuple[float, range]]:
    """The pieces, those beside each other in an entry as one, the best first."""
    spans: list[tuple[float, range]] = []
    for score, key in sorted(best, key=lambda each: each[1]):
        before, span = spans[-1] if spans else (0.0, range(0))
        if key == span.stop and key % KEYS_PER_ENTRY and len(span) < _JOINED_PIECES:
            spans[-1] = max(before, score), range(span.start, key + 1)
        else:
            spans.append((score, range(key, key + 1)))
    return sorted(spans, key=lambda each: (-each[0], -each[1].start))


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
    spans: Iterable[tuple[float, range]], rows: Mapping[int, RecallRow], readable: Callable[[str], str]
) -> Iterator[Hit]:
    """The texts of the pieces: several where they are the user's in part."""
    texts: dict[int, tuple[str, str, list[tuple[int, int]]]] = {}
    for score, keys in spans:
        key, first = divmod(keys.start, KEYS_PER_ENTRY)
        row = rows.get(key)
        if row is None:
            continue
        if key not in texts:
            text, marks = _text_and_marks(row)
            texts[key] = shortened(text, readable), shortened(marks), pieces_of(shortened(text))
        text, marks, places = texts[key]
        parts: list[tuple[bool, str]] = []
        for start, end in places[first : first + len(keys)]:
            for added, part in runs(text[start:end], marks[start:end]):
                before = parts.pop()[1] if parts and parts[-1][0] == added else ""
                parts.append((added, before + part))
        for added, part in parts:
            yield Hit(row, part, score, whole=len(part) == len(text), added=added)


def _without_repeats(hits: Iterable[Hit]) -> Iterator[Hit]:
    """The hits without those whose lines were given already, mostly: a file that was read twice, for one."""
    given: set[str] = set()
    for hit in hits:
        lines = {line.strip() for line in hit.text.splitlines() if len(line.strip()) > _LINE_CHARS}
        if not lines or len(lines & given) <= _REPEATED_SHARE * len(lines):
            given |= lines
            yield hit
