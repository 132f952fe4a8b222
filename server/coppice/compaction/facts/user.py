"""The user's messages, word for word, and the rules of developers, systems and memory files."""

import json
import re
from contextlib import suppress
from itertools import takewhile
from typing import Final

from coppice.compaction.actions.action import Action
from coppice.compaction.text.lasting import lasting_sentences
from coppice.compaction.text.sentences import clip, one_line, sentences_of
from coppice.compaction.text.shortening import ELISION, shortened
from coppice.protocol.ledger import LedgerMessage, MessageSource
from coppice.tokens.budget import leading

_LONGEST: Final = 6_000
"""Characters of a message that are stored; of 431 recorded ones 97 % have fewer."""
_LONGEST_RULES: Final = 8_000
"""Characters of a developer's or system's message; a longer one is a manual that is sent anew each time."""
_JSON_LEVELS: Final = 6  # of an answer; Codex nests four
_BEGINNING_CHARS: Final = 120  # characters of what an old message begins with: a line of a screen
_ABOUT_CHARS: Final = 240  # characters of what was asked or refused: three lines
_BARE_COMMAND: Final = re.compile(r"/[\w:-]{1,60}")
_REQUEST_HEADING: Final = "## My request for Codex:\n"
_GIVEN: Final = re.compile(r"\"\s?[=:]\s?\"(.{1,2000}?)\"(?=, \"|\. |\.?$)", re.DOTALL)
"""An answer in quotation marks, after its question in such marks."""
_PARTS_EACH: Final = 4  # of a text at its quotation marks, for a question and its answer
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


def answer_of(action: Action, words: str | None = None) -> LedgerMessage | None:
    """What the user answered to the questions of a call, `words` or what its output has; None without any."""
    questions = action.arguments.get("questions")
    if isinstance(questions, list):
        asked = [each.get("question") or each.get("prompt") for each in questions if isinstance(each, dict)]
    else:
        asked = [action.arguments.get("question")]
    texts = [each for each in asked if isinstance(each, str) and each.strip()]
    if not texts or action.failed or action.runs or not action.output.strip():
        return None
    if words is None:
        words = _words_in(action.output, texts)
    answer = _message(words, action.entry, "answer")
    return answer.model_copy(update={"about": clip(one_line(" ".join(texts)), _ABOUT_CHARS)})


def answers_in(output: str) -> str:
    """The user's words in the result of a call that asked them: what is in quotation marks after a question
    in such marks, where no others are there; the texts of JSON; or else the whole.
    """
    parts = output.split('"')
    if len(parts) % _PARTS_EACH == 1 and all(each.strip() in ("=", ":") for each in parts[2::_PARTS_EACH]):
        return "\n".join(parts[3::_PARTS_EACH]) or output
    return _texts_in(output)


def _words_in(output: str, questions: list[str]) -> str:
    """The answers that follow the questions in an output; else all its texts."""
    given = (_GIVEN.match(output.partition(each)[2]) for each in questions)
    return "\n".join(match[1] for match in given if match) or _texts_in(output)


def _texts_in(output: str) -> str:
    """The texts of a JSON value, some levels deep, a line each; any other output as it is."""
    with suppress(ValueError, RecursionError):
        level: list[object] = [json.loads(output)]
        texts: list[str] = []
        for _ in range(_JSON_LEVELS):
            texts += [each for each in level if isinstance(each, str)]
            mappings = (item for each in level if isinstance(each, dict) for item in each.values())
            level = [*mappings, *(item for each in level if isinstance(each, list) for item in each)]
        return "\n".join(texts) or output
    return output


def refusal_of(output: str, about: str, entry: str) -> LedgerMessage | None:
    """The reason that the user gave for not allowing a call, by its result; None where there is none."""
    reason = reason_in(output)
    if not reason:
        return None
    message = _message(reason, entry, "refusal")
    return message.model_copy(update={"about": clip(one_line(about), _ABOUT_CHARS)})


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


def _message(text: str, entry: str, source: MessageSource) -> LedgerMessage:
    short = shortened(text, _LONGEST, with_rules=source in ("user", "answer", "refusal"))
    return LedgerMessage(entry_id=entry, text=short, source=source, shortened=len(short) < len(text.strip()))
