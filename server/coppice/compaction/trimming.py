"""A summary over a hard limit, without the least important lines of its longest sections."""

from typing import Final

from coppice.compaction.asking.summarizer import CountTokens
from coppice.compaction.summary import SECTIONS, Summary, SummaryDecision, inert
from coppice.compaction.text.sentences import clip

_SECTIONS: Final = (*SECTIONS, "turn")
_NEWEST_LAST: Final = ("decisions", "done")
_SHORTEST_CLIP: Final = 24  # characters; less of a line is not worth keeping (guess)
_Line = str | SummaryDecision


def fit_whole(summary: Summary, limit: int, count_tokens: CountTokens) -> str:
    """`summary` rendered in at most `limit` tokens; empty when nothing fits. CPU-bound.

    The longest section loses a line until all fits: of decisions and done work the oldest, of the goal what
    is neither first nor last, of all else the last. The only line of a section is clipped. Constraints go
    when nothing else is left.
    """

    def cost(line: _Line) -> int:
        return count_tokens(f"- [x] {inert(_text(line))}\n")

    lines: dict[str, list[_Line]] = {name: [*getattr(summary, name)] for name in _SECTIONS}
    lines["context"] += summary.other_lines()
    costs = {name: [cost(line) for line in lines[name]] for name in _SECTIONS}
    totals = {name: sum(costs[name]) for name in _SECTIONS}
    over = sum(totals.values()) + count_tokens(Summary().render()) - limit
    while True:
        while over > 0 and any(lines.values()):
            name = max(
                _SECTIONS, key=lambda each: (each != "constraints" and bool(lines[each]), totals[each])
            )
            place = _least_important(name, costs[name])
            line, gone = lines[name].pop(place), costs[name].pop(place)
            chars = len(_text(line)) * (gone - over) // max(1, gone)
            if not lines[name] and chars >= _SHORTEST_CLIP:
                shorter = clip(_text(line), chars)
                lines[name].append(SummaryDecision(shorter) if name == "decisions" else shorter)
                costs[name].append(cost(shorter))
                gone -= costs[name][0]
            totals[name] -= gone
            over -= gone
        text = Summary(**{name: tuple(lines[name]) for name in _SECTIONS}).render()  # type: ignore[arg-type]
        over = count_tokens(text) - limit
        if over <= 0 or not any(lines.values()):
            return text if over <= 0 else ""


def _least_important(name: str, costs: list[int]) -> int:
    """The place of the line that goes first."""
    if name == "constraints":
        return costs.index(max(costs))
    if name in _NEWEST_LAST:
        return 0
    return -2 if name == "goal" and len(costs) > 1 else -1


def _text(line: _Line) -> str:
    return line if isinstance(line, str) else f"{line.what}: {line.why}" if line.why else line.what
