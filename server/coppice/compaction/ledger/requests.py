"""What the user asked for, answered, approved and refused."""

import re
from collections.abc import Iterator
from typing import Final

from coppice.compaction.ledger.rules import strength_of
from coppice.compaction.ledger.steps import Action, label_of
from coppice.compaction.text.sentences import clip, one_line, sentences_of
from coppice.compaction.words import raw
from coppice.protocol.ledger import Request, WorkLedger

REQUEST_CHARS: Final = 4_000
"""Characters of one request that the ledger keeps (guess: a page of a ticket)."""
_ABOUT_CHARS: Final = 240  # characters of what a request is about (guess)
_ANSWER_CHARS: Final = 600  # characters of an answer to a question (guess)
_MIN_CHARS: Final = 3  # characters of a request (guess)
_LONG_PLAN: Final = 40  # characters from which a plan is a text of its own (guess)
_WITHDRAWAL_CHARS: Final = 200  # characters up to which a message may take back another (guess)
_SMALL_TALK: Final = re.compile(rf"{raw('SMALL_TALK')}[\s,.!。！，]*", re.IGNORECASE)
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
    elif open_ones and _only_rules(words):
        return
    ledger.requests.append(Request(entry_id=entry, text=clip(text, REQUEST_CHARS)))


def add_refusal(ledger: WorkLedger, action: Action) -> None:
    """Takes in a tool call that the user did not let happen, with the reason, if one was given."""
    found = _USER_WROTE.search(action.output)
    text = clip(one_line(action.output[found.end() :]), _ANSWER_CHARS) if found else ""
    about = clip(label_of(action), _ABOUT_CHARS)
    ledger.requests.append(Request(entry_id=action.entry, text=text, kind="refusal", about=about))


def add_answer(ledger: WorkLedger, action: Action) -> bool:
    """Takes in an approved plan or an answered question; False for any other action."""
    plan = action.arguments.get("plan")
    if isinstance(plan, str) and len(plan) >= _LONG_PLAN:
        title = next((line.strip("# ") for line in plan.splitlines() if line.strip("# ")), "")
        about = clip(one_line(title), _ABOUT_CHARS)
        ledger.requests.append(Request(entry_id=action.entry, text="", kind="approval", about=about))
        return True
    questions = "; ".join(_questions(action.arguments))
    if not questions:
        return False
    answer, about = clip(one_line(action.output), _ANSWER_CHARS), clip(questions, _ABOUT_CHARS)
    ledger.requests.append(Request(entry_id=action.entry, text=answer, kind="answer", about=about))
    return True


def _only_rules(words: str) -> bool:
    """Whether every sentence is a constraint, which has its own section."""
    return all(strength_of(sentence) for sentence in sentences_of(words))


def is_small_talk(text: str) -> bool:
    """Whether `text` only assents, thanks or asks to go on."""
    rest = text
    while rest:
        match = _SMALL_TALK.match(rest)
        if match is None or match.end() == 0:
            return False
        following = rest[match.end() : match.end() + 1]
        if following.isalnum() and following.isascii() and rest[match.end() - 1].isalnum():
            return False
        rest = rest[match.end() :]
    return True


def _questions(arguments: object) -> Iterator[str]:
    if not isinstance(arguments, dict):
        return
    asked = arguments.get("question")
    if isinstance(asked, str) and asked.strip():
        yield one_line(asked)
    listed = arguments.get("questions")
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, str):
            yield one_line(item)
        else:
            yield from _questions(item)
