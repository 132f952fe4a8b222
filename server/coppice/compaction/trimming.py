"""A summary over a hard limit, without the least important lines of its longest sections."""

from collections.abc import Mapping
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

    numbered = {name: dict[int, _Line](enumerate(getattr(summary, name))) for name in _SECTIONS}
    context = numbered["context"]
    context.update(enumerate(summary.other_lines(), start=len(context)))
    costs = {name: {place: cost(line) for place, line in lines.items()} for name, lines in numbered.items()}
    going = {name: _last_to_go_first(name, costs[name]) for name in _SECTIONS}
    totals = {name: sum(costs[name].values()) for name in _SECTIONS}
    over = sum(totals.values()) + count_tokens(Summary().render()) - limit
    while True:
        while over > 0 and any(numbered.values()):
            name = max(
                _SECTIONS, key=lambda each: (each != "constraints" and bool(numbered[each]), totals[each])
            )
            place = going[name].pop()
            line, gone = numbered[name].pop(place), costs[name][place]
            chars = len(_text(line)) * (gone - over) // max(1, gone)
            if not numbered[name] and chars >= _SHORTEST_CLIP:
                shorter = clip(_text(line), chars)
                numbered[name][place] = SummaryDecision(shorter) if name == "decisions" else shorter
                costs[name][place] = cost(shorter)
                going[name].append(place)
                gone -= costs[name][place]
            totals[name] -= gone
            over -= gone
        text = Summary(**{name: tuple(lines.values()) for name, lines in numbered.items()}).render()  # type: ignore[arg-type]
        over = count_tokens(text) - limit
        if over <= 0 or not any(numbered.values()):
            return text if over <= 0 else ""


def _last_to_go_first(name: str, costs: Mapping[int, int]) -> list[int]:
    """The places of a section's lines, the least important one at the end."""
    places = [*costs]
    if name == "constraints":
        return sorted(places, key=lambda place: (costs[place], -place))
    if name in _NEWEST_LAST:
        return places[::-1]
    return [*places[-1:], *places[:-1]] if name == "goal" else places


def _text(line: _Line) -> str:
    return line if isinstance(line, str) else f"{line.what}: {line.why}" if line.why else line.what
