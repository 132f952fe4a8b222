"""The user's messages, word for word, and the rules of developers, systems and memory files."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any, Final

from coppice.compaction.actions.action import Action
from coppice.compaction.text.lasting import lasting_sentences
from coppice.compaction.text.sentences import ELISION, clip, one_line, sentences_of
from coppice.compaction.text.shortening import shortened
from coppice.escapes import unescaped
from coppice.protocol.ledger import LedgerMessage, MessageSource
from coppice.tokens.budget import leading
from coppice.tree.messages import AssistantMessage

_LONGEST: Final = 6_000
"""Characters of a message that are stored; of 431 recorded ones 97 % have fewer."""
_LONGEST_RULES: Final = 8_000
"""Characters of a developer's or system's message; a longer one is a manual that is sent anew each time."""
_JSON_LEVELS: Final = 6  # of an answer; Codex nests four
_BEGINNING_CHARS: Final = 120  # characters of what an old message begins with: a line of a screen
_ABOUT_CHARS: Final = 240  # characters of what was asked or refused: three lines
_BARE_COMMAND: Final = re.compile(r"/[\w:-]{1,60}")
_REQUEST_HEADING: Final = "## My request for Codex:\n"
_MOST_QUESTIONS: Final = 20  # that are looked for in an answer, each in all of it; agents ask four at once
_MOST_ASKED: Final = 20_000  # characters of all questions that are looked for
_QUESTION_LETTERS: Final = 16
"""Letters and digits by which a question is recognized, its first ones: a program may cut the rest."""
_FEWEST_LETTERS: Final = 12
"""A question of fewer is recognized by all of its characters: an answer may well have such a word."""
_NO_LETTERS: Final = re.compile(r"[\W_]++")
_PARTS_EACH: Final = 4  # of a text at its quotation marks, for a question and its answer
_NOTE: Final = " user notes: "
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


def _questions_of(arguments: Mapping[str, Any]) -> list[str]:
    """What a call asks the user."""
    questions = arguments.get("questions")
    if isinstance(questions, list):
        asked = [each.get("question") or each.get("prompt") for each in questions if isinstance(each, dict)]
    else:
        asked = [arguments.get("question")]
    return [each for each in asked if isinstance(each, str) and each.strip()]


def questions_by_call(reply: AssistantMessage) -> dict[str, list[str]]:
    """What the calls of a reply ask the user, by id: of several calls with one id, what any of them asks."""
    asked: dict[str, list[str]] = {}
    for call in reply.tool_calls:
        asked.setdefault(call.id, []).extend(_questions_of(call.arguments))
    return asked


def answer_of(action: Action, questions: Sequence[str], words: str | None = None) -> LedgerMessage | None:
    """What the user answered to `questions` of a call, `words` or what its output has; None without any."""
    if not questions or action.failed or action.runs or not action.output.strip():
        return None
    if words is None:
        words = answers_in(action.output, questions)
    if words is None:
        return None
    answer = _message(words, action.entry, "answer")
    return answer.model_copy(update={"about": clip(one_line(" ".join(questions)), _ABOUT_CHARS)})


def answers_in(output: str, questions: Sequence[str]) -> str | None:
    """The user's words in the result of a call that asked them: the texts of JSON; what is in quotation marks
    after each question in such marks, and the notes to all but the last, where no other marks are there; or
    else the whole.

    None without questions or words, or where the output has a question in any other way, also escaped, cut,
    or in another case: what a model asked may then pass for the user's.
    """
    texts = _texts_of_json(output)
    parts = output.split('"')
    after = parts[_PARTS_EACH::_PARTS_EACH]
    if (
        texts is None
        and questions
        and len(parts) == _PARTS_EACH * len(questions) + 1
        and parts[1::_PARTS_EACH] == [*questions]
        and {*map(str.strip, parts[2::_PARTS_EACH])} <= {"=", ":"}
        and all(rest.startswith((",", _NOTE)) for rest in after[:-1])
    ):
        return "\n".join(_answers_and_notes(parts[3::_PARTS_EACH], after))
    words = output if texts is None else texts
    if (
        not words
        or not questions
        or len(questions) > _MOST_QUESTIONS
        or sum(map(len, questions)) > _MOST_ASKED
    ):
        return None
    line, letters = _comparable(words)
    return None if any(_is_asked_in(line, letters, *_comparable(each)) for each in questions) else words


def _comparable(text: str) -> tuple[str, str]:
    """`text` as it is read, on one line and in one case, and the letters and digits of that alone.

    Each character is decomposed by itself: many accents of one letter are sorted in quadratic time.
    """
    text = unescaped(text)
    plain = text.translate({ord(char): unicodedata.normalize("NFKD", char) for char in {*text}})
    line = one_line(plain.casefold())
    return line, _NO_LETTERS.sub("", line)


def _is_asked_in(line: str, letters: str, question: str, question_letters: str) -> bool:
    if len(question_letters) < _FEWEST_LETTERS:
        return question in line
    return question_letters[:_QUESTION_LETTERS] in letters


def _answers_and_notes(answers: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Each answer with what the user wrote beside it, from what follows each.

    The last note is left out, with a mark in its place: nothing divides it from what the tool adds.
    """
    for number, (answer, rest) in enumerate(zip(answers, after, strict=True), start=1):
        yield answer
        if rest.startswith(_NOTE):
            yield rest.removeprefix(_NOTE).rstrip(", ") if number < len(after) else ELISION


def _texts_of_json(output: str) -> str | None:
    """The texts of a JSON value, some levels deep, a line each; None for any other output."""
    with suppress(ValueError, RecursionError):
        level: list[object] = [json.loads(output)]
        texts: list[str] = []
        for _ in range(_JSON_LEVELS):
            texts += [each for each in level if isinstance(each, str)]
            mappings = (item for each in level if isinstance(each, dict) for item in each.values())
            level = [*mappings, *(item for each in level if isinstance(each, list) for item in each)]
        return "\n".join(texts)
    return None


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
