"""Trimming a summary to a token budget: each section has a share, and what one leaves over others may use."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from coppice.compaction.asking.summarizer import CountTokens
from coppice.compaction.summary import Summary, SummaryDecision, inert
from coppice.compaction.text.sentences import clip
from coppice.tokens.counting import CHARS_PER_TOKEN

_SHARES: Final = {
    "goal": 0.14,
    "in_progress": 0.12,
    "next_steps": 0.12,
    "blocked": 0.10,
    "decisions": 0.17,
    "turn": 0.12,
    "done": 0.17,
    "context": 0.06,
}
"""By section, the most important first: what is left over goes to them in this order."""

_NEWEST_LAST: Final = frozenset({"decisions", "done"})
_SHORTEST_CLIP: Final = 24  # characters; less of a line is not worth keeping (guess)
_MARKER: Final = "- [x] "


def trimmed(summary: Summary, budget: int, count_tokens: CountTokens) -> tuple[Summary, int]:
    """`summary` in about `budget` tokens, constraints not counted nor touched, and how many lines went.

    Of decisions and done work the newest stay, of the goal its first and its last line, of all else what
    comes first. A line too long for its whole
    section is clipped when the section would be empty without it.
    """
    summary = with_other_in_context(summary)
    sections = {name: _Section(name, _lines(summary, name), count_tokens) for name in _SHARES}
    room = max(0, budget - count_tokens(Summary().render()))
    allowed = {name: min(section.cost, int(room * _SHARES[name])) for name, section in sections.items()}
    left = room - sum(allowed.values())
    for name, section in sections.items():
        more = min(left, section.cost - allowed[name])
        allowed[name] += more
        left -= more
    lines_of_section = {name: section.within(allowed[name]) for name, section in sections.items()}
    dropped = sum(len(section.lines) - len(lines_of_section[name]) for name, section in sections.items())
    return _rebuilt(summary, lines_of_section), dropped


def with_other_in_context(summary: Summary) -> Summary:
    """`summary` with what was under headings of its own as lines of the context."""
    stated = (f"{heading}: {line}" if heading else line for heading, line in summary.other)
    return replace(summary, context=(*summary.context, *stated), other=())


def fit_whole(summary: Summary, limit: int, count_tokens: CountTokens) -> str:
    """`summary` rendered in at most `limit` tokens, constraints too; empty when nothing fits."""
    constraints = list(summary.constraints)
    while True:
        cost = sum(count_tokens(f"- {inert(text)}\n") for text in constraints)
        for budget in (limit - cost, (limit - cost) * 9 // 10, (limit - cost) * 3 // 4, 0):
            smaller, _ = trimmed(replace(summary, constraints=tuple(constraints)), budget, count_tokens)
            text = smaller.render()
            if count_tokens(text) <= limit:
                return text
        if not constraints:
            return ""
        constraints.remove(max(constraints, key=len))


@dataclass(slots=True)
class _Section:
    name: str
    lines: Sequence[str]
    count: Callable[[str], int]

    @property
    def cost(self) -> int:
        return sum(map(self._cost, self.lines))

    def within(self, budget: int) -> dict[int, str]:
        """The lines that fit, by their places."""
        lines: dict[int, str] = {}
        for place in self._by_worth():
            cost = self._cost(self.lines[place])
            if cost <= budget:
                lines[place] = self.lines[place]
                budget -= cost
            elif not lines and (shorter := self._clipped(self.lines[place], budget)):
                return {place: shorter}
        return dict(sorted(lines.items()))

    def _by_worth(self) -> list[int]:
        places = list(range(len(self.lines)))
        if self.name in _NEWEST_LAST:
            places.reverse()
        elif self.name == "goal":
            places[1:] = [*places[:0:-1][:1], *places[1:-1]]
        return places

    def _clipped(self, line: str, budget: int) -> str:
        limit = min(len(line), budget * CHARS_PER_TOKEN)
        while limit >= _SHORTEST_CLIP and self._cost(clip(line, limit)) > budget:
            limit = limit * 3 // 4
        return clip(line, limit) if limit >= _SHORTEST_CLIP else ""

    def _cost(self, line: str) -> int:
        return self.count(f"{_MARKER}{inert(line)}\n")


def _lines(summary: Summary, name: str) -> Sequence[str]:
    if name == "decisions":
        return [f"{decision.what}: {decision.why}" for decision in summary.decisions]
    lines: Sequence[str] = getattr(summary, name)
    return lines


def _rebuilt(summary: Summary, lines_of_section: dict[str, dict[int, str]]) -> Summary:
    decisions = []
    for place, line in lines_of_section["decisions"].items():
        before = summary.decisions[place]
        whole = line == f"{before.what}: {before.why}"
        decisions.append(before if whole else SummaryDecision(line))
    texts = {name: tuple(lines.values()) for name, lines in lines_of_section.items()}
    return replace(
        summary,
        goal=texts["goal"],
        done=texts["done"],
        in_progress=texts["in_progress"],
        blocked=texts["blocked"],
        next_steps=texts["next_steps"],
        context=texts["context"],
        turn=texts["turn"],
        decisions=tuple(decisions),
    )
