"""What the user asked for, answered, approved and refused."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from coppice.compaction.ledger.rules import strength_of
from coppice.compaction.ledger.steps import Action, label_of
from coppice.compaction.text.sentences import clip, label, one_line, sentences_of
from coppice.compaction.words import raw
from coppice.protocol.ledger import Request, WorkLedger

REQUEST_CHARS: Final = 4_000
"""Characters of one request that the ledger keeps (guess: a page of a ticket)."""
_ANSWER_CHARS: Final = 600  # characters of an answer to a question (guess)
_MIN_CHARS: Final = 3  # characters of a request (guess)
_LONG_PLAN: Final = 40  # characters from which a plan is a text of its own (guess)
_WITHDRAWAL_CHARS: Final = 200  # characters up to which a message may take back another (guess)
_SMALL_TALK: Final = re.compile(rf"(?:{raw('SMALL_TALK')}(?![A-Za-z0-9])[\s,.!。！，]*)*+", re.IGNORECASE)
_WITHDRAWS: Final = re.compile(rf"\s*(?:no[,.]? |actually[,.]? |不，)?{raw('WITHDRAWS')}", re.IGNORECASE)
_USER_WROTE: Final = re.compile(rf"{raw('USER_WROTE')}\s*", re.IGNORECASE)


def add_request(ledger: WorkLedger, words: str, entry: str) -> None:
    """Takes in what the user typed; assent and small talk are no requests."""
    text = one_line(words)
    if len(text) < _MIN_CHARS or is_small_talk(text):
        return
    open_ones = [each for each in ledger.requests if each.kind == "request" and each.withdrawn_by is None]
    if len(text) <= _WITHDRAWAL_CHARS and open_ones and _WITHDRAWS.match(text):
        open_ones[-1].withdrawn_by = text
    elif open_ones and all(map(strength_of, sentences_of(words))):
        return  # constraints have their own section
    ledger.requests.append(Request(entry_id=entry, text=clip(text, REQUEST_CHARS)))


def add_refusal(ledger: WorkLedger, action: Action) -> None:
    """Takes in a tool call that the user did not let happen, with the reason, if one was given."""
    found = _USER_WROTE.search(action.output)
    text = clip(one_line(action.output[found.end() :]), _ANSWER_CHARS) if found else ""
    about = label(label_of(action))
    ledger.requests.append(Request(entry_id=action.entry, text=text, kind="refusal", about=about))


def add_answer(ledger: WorkLedger, action: Action) -> bool:
    """Takes in an approved plan or an answered question; False for any other action."""
    plan = action.arguments.get("plan")
    if isinstance(plan, str) and len(plan) >= _LONG_PLAN:
        title = next((line.strip("# ") for line in plan.splitlines() if line.strip("# ")), "")
        approval = Request(entry_id=action.entry, text="", kind="approval", about=label(title))
        ledger.requests.append(approval)
        return True
    questions = "; ".join(_questions(action.arguments))
    if not questions:
        return False
    answer = clip(one_line(action.output), _ANSWER_CHARS)
    ledger.requests.append(Request(entry_id=action.entry, text=answer, kind="answer", about=label(questions)))
    return True


def is_small_talk(text: str) -> bool:
    """Whether `text` only assents, thanks or asks to go on."""
    return _SMALL_TALK.fullmatch(text) is not None


def _questions(arguments: Mapping[str, Any]) -> Iterator[str]:
    listed = arguments.get("questions")
    for asked in (arguments, *(listed if isinstance(listed, list) else ())):
        text = asked.get("question") if isinstance(asked, dict) else asked
        if isinstance(text, str) and text.strip():
            yield text
