"""What a ledger knows in few tokens: all of it, or what a text about the same work does not say."""

from typing import Final

from coppice.compaction.checking.stated import Statements
from coppice.compaction.text.sentences import ELISION, sentences_of, whole_sentences
from coppice.compaction.writing.state_lines import state_section
from coppice.compaction.writing.user_messages import user_messages_section
from coppice.protocol.ledger import LedgerMessage, WorkLedger
from coppice.tokens.counting import CHARS_PER_TOKEN, estimate_tokens

_REPORT_HEADING: Final = "## Last report\n"


def facts_text(ledger: WorkLedger, tokens: int, seen: str | None = None) -> str:
    """The user's messages, the state, and the last report, in `tokens` by estimate; empty where there is
    nothing.

    With `seen`, a summary and what else of the session is before a model, what it says is left out, and the
    commands that are used, which grow with each.
    """
    statements = None if seen is None else Statements(seen)
    asked = [message for message in ledger.messages if message.source in ("user", "answer", "refusal")]
    reports = [quotation.text for quotation in ledger.quotations if quotation.kind == "report"][-1:]
    state = ledger.state
    if statements is not None:
        state = state.model_copy(update={"used": []})
        asked = [part for message in asked if (part := _unsaid(message, statements)) is not None]
        reports = [report for report in reports if not statements.say(report)]
    messages = user_messages_section(asked, tokens // 2, estimate_tokens, {})
    left = tokens - estimate_tokens(messages)
    facts = state_section(state, left * 2 // 3, estimate_tokens, {}, statements)
    left = (left - estimate_tokens(f"{facts}\n\n{_REPORT_HEADING}")) * CHARS_PER_TOKEN
    report = f"{_REPORT_HEADING}{whole_sentences(reports[-1], left)}" if reports and left > 0 else ""
    return "\n\n".join(filter(None, (messages, facts, report)))


def _unsaid(message: LedgerMessage, statements: Statements) -> LedgerMessage | None:
    """What the text does not say of a message; None for nothing. An answer, whose lines are those of the
    questions, is whole.
    """
    parts: list[str] = []
    sentences = list(sentences_of(message.text))
    for sentence in sentences:
        if not statements.say(sentence):
            parts.append(sentence)
        elif parts[-1:] != [ELISION]:
            parts.append(ELISION)
    lost = [part for part in parts if part != ELISION]
    if not lost or len(lost) == len(sentences) or message.source == "answer":
        return message if lost else None
    return message.model_copy(update={"text": " ".join(parts), "shortened": True})
