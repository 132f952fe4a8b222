"""What an earlier summary states, for a narrative that is written without a model."""

from collections.abc import Iterator
from typing import Final

from coppice.compaction.asking.summarizer import CountTokens
from coppice.compaction.checking.narrative import safe_text
from coppice.compaction.span.serialization import shorten
from coppice.compaction.summary import SummaryDecision
from coppice.compaction.summary_parser import is_foreign, parse_summary
from coppice.compaction.text.markdown import block_quote
from coppice.compaction.text.sentences import sentences_of
from coppice.compaction.writing.choosing import Line
from coppice.tokens.counting import CHARS_PER_TOKEN

_ORDER: Final = (
    "goal", "constraints", "done", "in_progress", "blocked", "decisions", "next_steps", "context",
)  # fmt: skip
_TO_DO: Final = ("in_progress", "next_steps")
FOREIGN_SHARE: Final = 2
"""The room divided by this bounds an earlier summary in sections of its own."""
_LEAST_FOREIGN: Final = 200  # characters of it
_MARK_CHARS: Final = 40  # characters of the mark for what is left out


def earlier_lines(text: str, before_commit: str) -> Iterator[Line]:
    """The lines of an earlier summary by a model or a person, or the only sentence of one in other sections.
    What was to do then is no next step where a commit came after it.
    """
    if not text or is_foreign(text):
        if _is_sentence(text):
            yield Line("context", text, 500)
        return
    summary = parse_summary(text)
    for section in _ORDER:
        if before_commit and section in _TO_DO:
            continue
        for place, line in enumerate(getattr(summary, section)):
            if isinstance(line, SummaryDecision):
                yield Line(section, f"{line.what}: {line.why}" if line.why else line.what, place)
            else:
                yield Line(section, line, place)
    for place, line in enumerate([*summary.turn, *summary.other_lines()]):
        yield Line("context", line, 500 + place)
    to_do = [line for section in _TO_DO for line in getattr(summary, section)]
    if before_commit and to_do:
        dated = f"To do in the earlier summary, before commit “{before_commit}”: {'; '.join(to_do)}"
        yield Line("context", dated, 900)


def quoted_foreign(earlier: str, room: int, count: CountTokens) -> str:
    """An earlier summary that has not our sections, quoted as it was written, without its middle where there
    is no room for it; empty for a single sentence.
    """
    chars = room * CHARS_PER_TOKEN if is_foreign(earlier) and not _is_sentence(earlier) else 0
    while chars >= _LEAST_FOREIGN:
        quoted = block_quote(shorten(safe_text(earlier), chars))
        tokens = count(quoted)
        if tokens <= room:
            return quoted
        chars = chars * room // tokens - _MARK_CHARS
    return ""


def _is_sentence(text: str) -> bool:
    return len(text) <= _LEAST_FOREIGN and len(list(sentences_of(text))) == 1
