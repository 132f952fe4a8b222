"""What an earlier summary states, for a narrative that is written without a model."""

from collections.abc import Iterator
from typing import Final

from coppice.compaction.asking.summarizer import CountTokens
from coppice.compaction.checking.narrative import safe_text
from coppice.compaction.summary import SECTIONS, SummaryDecision
from coppice.compaction.summary_parser import is_foreign, parse_summary, recorded_lines
from coppice.compaction.text.markdown import ITEM, block_quote
from coppice.compaction.text.sentences import sentences_of
from coppice.compaction.text.shortening import shortened
from coppice.compaction.writing.choosing import Line
from coppice.protocol.ledger import WorkLedger
from coppice.tokens.counting import CHARS_PER_TOKEN

_TO_DO: Final = ("in_progress", "next_steps")
FOREIGN_SHARE: Final = 2
"""The room divided by this bounds an earlier summary in sections of its own."""
_LEAST_FOREIGN: Final = 200  # characters of it
_MARK_CHARS: Final = 40  # characters of the mark for what is left out


def earlier_lines(ledger: WorkLedger) -> Iterator[Line]:
    """The lines of an earlier summary by a model or a person, or the only sentence of one in other sections.
    What was to do then is no next step where a commit came after it.
    """
    if is_foreign(ledger.earlier):
        if _is_sentence(text := _recorded(ledger)):
            yield Line("context", text, 500)
        return
    summary, before_commit = parse_summary(ledger.earlier), ledger.earlier_before_commit
    for section in SECTIONS:
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
        dated = f"To do in the earlier summary,{before(before_commit)}: {'; '.join(to_do)}"
        yield Line("context", dated, 900)


def before(commit: str) -> str:
    """The words " before commit …"; empty without one. In a ledger of an earlier version the hash is followed
    by the subject.
    """
    if not commit:
        return ""
    has_subject = " " in commit and not commit.startswith("“")
    return f" before commit “{commit}”" if has_subject else f" before commit {commit}"


def quoted_foreign(ledger: WorkLedger, room: int, count: CountTokens) -> str:
    """An earlier summary that has not our sections, quoted as it was written, without its middle where there
    is no room for it; empty for a single sentence.
    """
    text = _recorded(ledger) if is_foreign(ledger.earlier) else ""
    chars = 0 if _is_sentence(text) else room * CHARS_PER_TOKEN
    while text and chars >= _LEAST_FOREIGN:
        quoted = block_quote(safe_text(shortened(text, chars, with_rules=False)))
        tokens = count(quoted)
        if tokens <= room:
            return quoted
        chars = chars * room // tokens - _MARK_CHARS
    return ""


def _recorded(ledger: WorkLedger) -> str:
    """The earlier summary without code, without what is among the user's messages and, where a commit came
    after it, without the work of then.
    """
    written = {_spoken(line) for each in ledger.messages for line in each.text.splitlines()}
    lines = ledger.earlier.splitlines()
    own = "\n".join(line for line in lines if not line.strip() or _spoken(line) not in written)
    rest = list(recorded_lines(own, overtaken=bool(ledger.earlier_before_commit)))
    while rest and (not rest[-1].strip() or rest[-1].endswith(":")):
        rest.pop()
    return "\n".join(rest).strip()


def _spoken(line: str) -> str:
    """What a line quotes of a speaker."""
    item = ITEM.match(line)
    return (item["text"] if item else line).removeprefix("User: ").strip().strip('"')


def _is_sentence(text: str) -> bool:
    return len(text) <= _LEAST_FOREIGN and len(list(sentences_of(text))) == 1
