"""Chooses the lines of a ledger that fit a budget: what matters most first, nothing twice."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from coppice.compaction.asking.summarizer import CountTokens
from coppice.compaction.ledger.line import Line
from coppice.compaction.ledger.lines import lines_of
from coppice.compaction.ledger.references import entries_in, short_ids
from coppice.compaction.summary import Summary, SummaryDecision, inert
from coppice.compaction.text.comparing import spelling
from coppice.compaction.text.units import joined, packed
from coppice.protocol.ledger import WorkLedger

_MARKER: Final = "- [x] "
_WORD: Final = re.compile(r"[A-Za-z0-9_]{3,}|[\u4e00-\u9fff]")
_REPEATED: Final = 0.8
"""Share of a line's words that one chosen line holds from which it adds nothing new (guess)."""
_LENGTH_COST: Final = 25
"""Tokens that weigh as much as one point of priority (measured with takeover.py)."""
_GROUP_CHARS: Final = 700
"""Characters of statements of one group that are written together (guess: what reads as one paragraph)."""
_FOCUS: Final = 30  # points of priority for a line that matches the focus (guess)
_FACT_PRIORITY: Final = 60
"""From here on a line is a fact of the ledger and not the assistant's own statement."""
_TITLES: Final = {
    "goal": "Requests, oldest first",
    "constraints": "Rules",
    "done": "Done",
    "in_progress": "Under way",
    "blocked": "Failing",
    "decisions": "Decisions and answers",
    "next_steps": "Not begun",
    "context": "Found out",
}
_ORDER: Final = list(_TITLES)
_LEAST_FOCUS_WORD: Final = 4  # letters; shorter words are in too many lines (guess)


def chosen_lines(
    lines: Iterable[Line], budget: int, count: CountTokens, focus: str | None = None
) -> list[Line]:
    """The lines that together take at most `budget` tokens, the most important first.

    `focus` is what the user asked to look at: what matches it comes first.
    """
    wanted = focus_words(focus)
    priced = [(line, count(f"{_MARKER}{inert(line.text)}\n")) for line in lines]
    ranked = sorted(priced, key=lambda item: -_worth(item[0], item[1], wanted))
    chosen: list[Line] = []
    written: set[tuple[str, str]] = set()
    seen: list[frozenset[str]] = []
    left = budget
    for line, cost in ranked:
        exact = line.section, spelling(line.text)
        words = frozenset(_WORD.findall(line.text.casefold()))
        is_head = line.text.endswith((":", "："))  # of the lines after it
        if cost > left or exact in written:
            continue
        if not (line.verbatim or is_head) and _is_repeated(words, seen):
            continue
        left -= cost
        written.add(exact)
        if not line.verbatim:
            seen.append(words)
        chosen.append(line)
    return chosen


def _is_repeated(words: frozenset[str], seen: Iterable[frozenset[str]]) -> bool:
    return not words or any(len(words & other) >= _REPEATED * len(words) for other in seen)


def focus_words(focus: str | None) -> frozenset[str]:
    """The words of a focus that lines are matched with."""
    words = _WORD.findall((focus or "").casefold())
    return frozenset(word for word in words if len(word) >= _LEAST_FOCUS_WORD or not word.isascii())


def matches_focus(text: str, wanted: frozenset[str]) -> bool:
    """Whether `text` has a word of the focus."""
    return not wanted.isdisjoint(_WORD.findall(text.casefold()))


def summary_of(lines: Sequence[Line], references: Mapping[str, str] | None = None) -> Summary:
    """The lines in their sections, each section in its order.

    `references` are the short ids of entries; the lines that are based on one of them name it.
    """
    texts: dict[str, tuple[str, ...]] = {}
    for section, written in _written(sorted(lines, key=lambda line: line.order), references or {}):
        texts[section] = (*texts.get(section, ()), written)
    decisions = tuple(map(SummaryDecision, texts.pop("decisions", ())))
    return Summary(decisions=decisions, **texts)  # type: ignore[arg-type]


def fitted(
    lines: Sequence[Line],
    limit: int,
    count: CountTokens,
    render: Callable[[Sequence[Line]], str],
    focus: str | None = None,
) -> str:
    """The text that `render` makes of the lines that fit `limit` tokens; empty when nothing does."""
    budget = limit - count(Summary().render())
    while budget > 0:
        text = render(chosen_lines(lines, budget, count, focus))
        over = count(text) - limit
        if over <= 0:
            return text
        budget -= over + 8
    bare = Summary().render()
    return bare if count(bare) <= limit else ""


def facts_text(ledger: WorkLedger, budget: int, count: CountTokens, *, least: float = _FACT_PRIORITY) -> str:
    """The most important facts of a ledger in `budget` tokens, by section, for a model that writes prose.

    Lines of a priority below `least` are left out: by default statements that a model can read itself.
    """
    lines = [line for line in lines_of(ledger) if line.priority >= least]
    chosen = sorted(
        chosen_lines(lines, budget, count), key=lambda line: (_ORDER.index(line.section), line.order)
    )
    references = short_ids(entries_in(ledger))
    parts: list[str] = []
    for section, run in groupby(chosen, key=lambda line: line.section):
        parts += [f"{_TITLES[section]}:", *(f"- {_with_reference(line, references)}" for line in run)]
    return "\n".join(parts)


def _worth(line: Line, cost: int, wanted: frozenset[str]) -> float:
    focused = _FOCUS if wanted and line.section != "constraints" and matches_focus(line.text, wanted) else 0
    return line.priority - cost / _LENGTH_COST + focused


def _written(lines: Sequence[Line], references: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Sections and statements; neighbours of one group become one statement of bounded length."""
    for (section, group), run in groupby(lines, key=lambda line: (line.section, line.group)):
        texts = [_with_reference(line, references) for line in run]
        if group:
            texts = [f"{group}: {joined(some)}" for some in packed(texts, _GROUP_CHARS)]
        yield from ((section, text) for text in texts)


def _with_reference(line: Line, references: Mapping[str, str]) -> str:
    short = references.get(line.entry) if line.referable else None
    return f"{line.text} [#{short}]" if short else line.text
