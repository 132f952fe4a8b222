"""What came of the calls that a search found."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from coppice.mcp.rendering import may_be_shown
from coppice.redaction import masked_part
from coppice.service.history.calls import calls_in, results_of_calls
from coppice.service.history.search import Hit
from coppice.store.search.recalling import RecallRow
from coppice.store.search.search_text import whole_text
from coppice.store.store import Store

_CHARS: Final = 60
"""Of a result. With 100 and its id, pages of 2,000 tokens answered four of 124 questions less."""


def outcomes_of(store: Store, hits: Sequence[Hit]) -> dict[int, list[str]]:
    """By the number of a hit that holds the beginning of calls: a line for the result of each that is no hit
    itself, as such a one has a line for its call.
    """
    rows = {hit.row.key: hit.row for hit in hits if hit.row.role == "assistant"}
    results = results_of_calls(store, list(rows.values()))
    given = {hit.row.key for hit in hits}
    return {
        number: [
            _line(result)
            for result in _results_of(hit, results)
            if result.key not in given and may_be_shown(result)
        ]
        for number, hit in enumerate(hits)
    }


def _results_of(hit: Hit, results: Mapping[int, Mapping[str, RecallRow]]) -> Iterator[RecallRow]:
    """The results of the calls whose beginnings are in a hit: a line with the name, before the arguments."""
    lines = hit.text.splitlines()
    for call in calls_in(hit.row):
        result = results[hit.row.key].get(call.id)
        if result is not None and call.name in lines:
            yield result


def _line(row: RecallRow) -> str:
    """The beginning of a result, without the name of its tool, which is its first line."""
    start = len(row.tool_name or "") + 1
    text = masked_part(whole_text(row.type, row.body), start, start + 4 * _CHARS)
    head = " ".join(text.split())
    head = head if len(head) <= _CHARS else f"{head[: _CHARS - 1]}…"
    failed = " (failed)" if row.message.get("isError") else ""
    return f"→{failed} {head}"
