"""The user's messages, word for word, and the rules of developers, systems and memory files."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import starmap, takewhile
from typing import Any, Final, NamedTuple

from coppice.compaction.actions.action import Action
from coppice.compaction.text.lasting import lasting_sentences
from coppice.compaction.text.sentences import ELISION, clip, one_line, sentences_of
from coppice.compaction.text.shortening import shortened
from coppice.escapes import unescaped, without_unseen
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
_MOST_BESIDE: Final = 100  # choices and texts beside them
_CHOICES: Final = frozenset({"options", "choices", "label"})
"""Names of what the user may choose: one is their answer, and where all are named none is."""
_NOT_BESIDE: Final = _CHOICES | {"question", "prompt", "value", "id"}
_MOST_ASKED: Final = 20_000  # characters of all of these
_MOST_ANSWERED: Final = 50_000  # characters in which they are looked for
_MOST_TEXTS: Final = 1_000  # of JSON in which they are looked for
_HEAD_BYTES: Final = 16
"""Of the letters and digits of a question, by which its beginning is recognized: the rest may be cut."""
_FEWEST_BYTES: Final = 12
"""Of those of a question without a question mark: an answer may well have fewer, as "Port"."""
_BORDER: Final = re.compile(r"""[\n\r"'`«»‹›“”„‟「」『』]""")
_CUT: Final = re.compile(r"\.{3,}+")
_NO_LETTERS: Final = re.compile(r"[^\w?|…]++|_++")
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


class Asked(NamedTuple):
    """What calls ask the user: the questions, what they may choose, what else is shown, and of that the
    headings of the questions.
    """

    questions: list[str]
    choices: list[str]
    beside: list[str]
    headings: list[str]


def _questions_of(arguments: Mapping[str, Any]) -> list[str]:
    questions = arguments.get("questions")
    if isinstance(questions, list):
        asked = [each.get("question") or each.get("prompt") for each in questions if isinstance(each, dict)]
    else:
        asked = [arguments.get("question")]
    return [each for each in asked if isinstance(each, str) and each.strip()]


def asked_by_call(reply: AssistantMessage) -> dict[str, Asked]:
    """What the calls of a reply ask the user, by id: of several calls with one id, what any of them asks."""
    by_call: dict[str, Asked] = {}
    for call in reply.tool_calls:
        asked = by_call.setdefault(call.id, Asked([], [], [], []))
        if questions := _questions_of(call.arguments):
            asked.questions.extend(questions)
            leaves = [*_leaves(call.arguments)]
            asked.choices.extend(text for name, text in leaves if name in _CHOICES)
            asked.beside.extend(text for name, text in leaves if name not in _NOT_BESIDE)
            asked.headings.extend(text for name, text in leaves if name == "header" and text.strip())
    return by_call


def answer_of(
    action: Action, call: str, output: str, asked: Asked, words: str | None = None
) -> LedgerMessage | None:
    """What the user answered to what a call asked, `words` or what its `output` has; None without any. `call`
    names it where it has no question.
    """
    if action.failed or action.runs:
        return None
    words = answers_in(output, asked) if words is None else words
    if not words:
        return None
    answer = _message(words, action.entry, "answer")
    return answer.model_copy(
        update={"about": clip(one_line(" ".join(asked.questions) or call), _ABOUT_CHARS)}
    )


def answers_in(output: str, asked: Asked) -> str | None:
    """The user's words in the result of a call that asked them: the texts of JSON; what is in quotation marks
    after each question in such marks, and the notes to all but the last, where no other marks are there; what
    is below the heading of each question; or else the whole.

    None without questions or words, or where the output, or each text of JSON, has a question, or a longer
    text beside one, in any other way, also escaped, cut, or in another case: what a model asked may then pass
    for the user's.
    """
    questions, choices, beside, headings = asked
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
    if (
        not questions
        or len(questions) > _MOST_QUESTIONS
        or len(beside) + len(choices) > _MOST_BESIDE
        or sum(map(len, (*questions, *choices, *beside))) > _MOST_ASKED
        or len(output) > _MOST_ANSWERED
        or len(texts or ()) > _MOST_TEXTS
    ):
        return None
    models = [*map(_readings, questions), *filter(_is_long, map(_readings, beside))]
    if texts is not None:
        words = "\n".join(text for text in texts if not _is_any_in(text, models))
    else:
        words = _below(headings, output) if len(headings) == len(questions) else output
    return None if not words.strip() or _is_any_in(words, models) or _are_listed(choices, words) else words


def _are_listed(choices: Sequence[str], words: str) -> bool:
    """Whether `words` has all of several choices, each apart, of which one is long: an answer may well have
    short ones.
    """
    different = sorted({*choices}, key=len, reverse=True)
    for each in different:
        words, count = re.subn(rf"(?<!\w){re.escape(each)}(?!\w)", " ", words, count=1, flags=re.IGNORECASE)
        if not count:
            return False
    return len(different) > 1 and len(different[0]) > _FEWEST_BYTES


def _below(headings: Sequence[str], output: str) -> str:
    """What is behind each of the headings, which are in bold, at the beginning of a line and in order; the
    whole where one is not there.
    """
    parts, rest = list[str](), output
    for heading in headings:
        before, mark, rest = rest.partition(f"\n**{heading}**: ")
        if not mark:
            return output
        parts.append(before)
    return "\n".join(part.strip() for part in (*parts[1:], rest))


def _is_long(readings: tuple[str, str]) -> bool:
    return all(len(_only_letters(each).encode()) > _FEWEST_BYTES for each in readings)


def _is_any_in(text: str, models: Sequence[tuple[str, str]]) -> bool:
    readings = _readings(text)
    return any(starmap(_has, (pair for each in models for pair in zip(readings, each, strict=True))))


def _has(text: str, question: str) -> bool:
    """Whether `text` has `question`, or its beginning where a line or a quotation begins, or cut off."""
    letters = _only_letters(question)
    head = letters.encode()[:_HEAD_BYTES].decode(errors="ignore")
    is_clear = "?" in letters or len(letters.encode()) >= _FEWEST_BYTES
    *before_cuts, _ = text.replace("|", "").split("…")
    return (
        (is_clear and letters in _only_letters(text))
        or re.search(r"\|" + "[|…]*+".join(map(re.escape, head)), text) is not None
        or any(letters.startswith(each[each.find(head) :]) for each in before_cuts if head in each)
    )


def _readings(text: str) -> tuple[str, str]:
    """The letters and digits of `text`, its question marks, "|" where a line or quotation may begin, and "…"
    where something is cut: with escape sequences, of which a program may take out a part, and without.

    Each character is decomposed by itself: many accents of one letter are sorted in quadratic time.
    """
    text = unescaped(text)
    plain = text.translate({ord(char): unicodedata.normalize("NFKD", char) for char in {*text}})
    return _letters(plain), _letters(without_unseen(plain))


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", _CUT.sub("…", _BORDER.sub("|", f"\n{text.casefold()}")))


def _only_letters(text: str) -> str:
    return text.replace("|", "").replace("…", "")


def _answers_and_notes(answers: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Each answer with what the user wrote beside it, from what follows each.

    The last note is left out, with a mark in its place: nothing divides it from what the tool adds.
    """
    for number, (answer, rest) in enumerate(zip(answers, after, strict=True), start=1):
        yield answer
        if rest.startswith(_NOTE):
            yield rest.removeprefix(_NOTE).rstrip(", ") if number < len(after) else ELISION


def _texts_of_json(output: str) -> list[str] | None:
    """The texts of a JSON value, some levels deep, numbers too; None for any other output, and one number."""
    with suppress(ValueError, RecursionError):
        value = json.loads(output)
        return None if isinstance(value, int | float) else [text for _, text in _leaves(value)]
    return None


def _leaves(value: object) -> Iterator[tuple[str, str]]:
    """The texts and numbers in a JSON value, some levels deep, each with the name that it or its list has."""
    level = [("", value)]
    for _ in range(_JSON_LEVELS):
        for name, each in level:
            if isinstance(each, str | int | float):
                yield name, each if isinstance(each, str) else json.dumps(each)
        mappings = (item for _, each in level if isinstance(each, dict) for item in each.items())
        level = [
            *mappings,
            *((name, item) for name, each in level if isinstance(each, list) for item in each),
        ]


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
