"""The user's messages, word for word, and the rules of developers, systems and memory files."""

import re
from collections.abc import Mapping
from itertools import takewhile
from typing import Any, Final

from coppice.compaction.text.lasting import lasting_sentences
from coppice.compaction.text.sentences import ELISION, clip, one_line, sentences_of
from coppice.compaction.text.shortening import shortened
from coppice.protocol.ledger import LedgerMessage, MessageSource
from coppice.tokens.budget import leading
from coppice.tree.messages import ToolResultMessage

_LONGEST: Final = 6_000
"""Characters of a message that are stored; of 431 recorded ones 97 % have fewer."""
_LONGEST_RULES: Final = 8_000
"""Characters of a developer's or system's message; a longer one is a manual that is sent anew each time."""
_BEGINNING_CHARS: Final = 120  # characters of what an old message begins with: a line of a screen
_ABOUT_CHARS: Final = 240  # characters of what was asked or refused: three lines
_NO_QUESTION: Final = "(no question)"  # in place of one without a text, as it may have an answer
_BARE_COMMAND: Final = re.compile(r"/[\w:-]{1,60}")
_REQUEST_HEADING: Final = "## My request for Codex:\n"
_REASON: Final = re.compile(
    r"(?:the user (?:said|says):|reason(?: for rejection)?:|feedback:)\s*", re.IGNORECASE
)


def is_bare_command(text: str) -> bool:
    """Whether a message is nothing but a command to the application, such as "/model"."""
    return _BARE_COMMAND.fullmatch(text) is not None


def request_in(text: str) -> str:
    """What a message asks, without the list of files that an application put before it."""
    return text.rpartition(_REQUEST_HEADING)[2].strip() or text


def user_message(words: str, entry: str) -> LedgerMessage | None:
    """The message of these words as it is stored; None where there are none."""
    return _message(words, entry, "user") if words else None


def rules_of(text: str, source: MessageSource, entry: str) -> LedgerMessage | None:
    """A message of the application, the system or a memory file; None for an empty one, or a manual."""
    text = text.strip()
    return _message(text, entry, source) if 0 < len(text) <= _LONGEST_RULES else None


def answer_in(message: ToolResultMessage) -> str:
    """What the user answered to a call, as the details of its result have it; empty where they do not."""
    details = message.details if isinstance(message.details, dict) else {}
    answer = details.get("answer")
    is_marked = details.get("answered") is True and not message.is_error
    return answer if is_marked and isinstance(answer, str) and answer.strip() else ""


def answer_of(words: str, asked: Mapping[str, Any], call: str, entry: str) -> LedgerMessage | None:
    """The user's `words` to what a call asked with these arguments; None without any.

    `call` names it where it has no question.
    """
    return _message(words, entry, "answer", " ".join(_questions_of(asked)) or call) if words else None


def _questions_of(arguments: Mapping[str, Any]) -> list[str]:
    questions = arguments.get("questions")
    if isinstance(questions, list):
        asked = [each.get("question") or each.get("prompt") for each in questions if isinstance(each, dict)]
    else:
        asked = [arguments.get("question")]
    texts = [each if isinstance(each, str) and each.strip() else None for each in asked]
    return [each or _NO_QUESTION for each in texts] if any(texts) else []


def refusal_of(output: str, about: str, entry: str) -> LedgerMessage | None:
    """The reason that the user gave for not allowing a call, by its result; None where there is none."""
    reason = reason_in(output)
    return _message(reason, entry, "refusal", about) if reason else None


def reason_in(output: str) -> str:
    """The user's words in the result of a call that they refused; empty where they gave no reason."""
    return _REASON.split(output, maxsplit=1)[-1].strip() if _REASON.search(output) else ""


def only_rules(message: LedgerMessage) -> LedgerMessage | None:
    """What an old message of the user keeps when there is no room for it: its beginning, and its sentences
    that last; None where none does. Any other message is kept.
    """
    if message.source != "user":
        return message
    rules = lasting_sentences(message.text)
    if not rules:
        return None
    sentences = takewhile(lambda each: each not in rules, sentences_of(request_in(message.text)))
    before = (clip(each, _BEGINNING_CHARS) for each in sentences if each != ELISION)
    beginning = leading(before, _BEGINNING_CHARS, len)
    whole = one_line(" ".join([*beginning, *rules])) == one_line(message.text)
    mark = [ELISION] if beginning and not whole else []
    text = "\n".join([*beginning, *mark, *rules])
    return message.model_copy(update={"text": text, "shortened": message.shortened or not whole})


def _message(text: str, entry: str, source: MessageSource, about: str = "") -> LedgerMessage:
    short = shortened(text, _LONGEST, with_rules=source in ("user", "answer", "refusal"))
    return LedgerMessage(
        entry_id=entry,
        text=short,
        source=source,
        about=clip(one_line(about), _ABOUT_CHARS),
        shortened=len(short) < len(text.strip()),
    )
