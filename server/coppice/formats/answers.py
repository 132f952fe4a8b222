"""What the user answered to a tool's questions, as agents write it: nothing of it is the model's.

The questions, headings and choices are the model's words. Where an agent writes them beside the answers, no
answer is read unless they are certainly taken off.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from coppice.formats.lines import UnusableLineError, object_at, objects_at, parse_object, text_at
from coppice.tree.messages import ANSWERED
from coppice.tree.nesting import nests_deeper

_NO_ANSWER: Final = "(no answer)"
"""In place of the answer to a question that has none, where the user answered another of the same call."""

_COPILOT: Final = ("User selected: ", "User responded: ")
_COPILOT_ALONE: Final = "The user is not available to respond"
"""How Copilot CLI begins its own answer, in which it works without the user."""
_QWEN: Final = "User has provided the following answers:\n"
_MOST_HEADINGS: Final = 4  # in a call of Qwen Code; each is looked for in the whole output


def answered(answers: Iterable[str | None]) -> dict[str, Any]:
    """`details` of a result with the user's answer to each question of its call, in their order; None, or a
    blank text, where there is none. Of several answers the further lines are indented.
    """
    given = [text if text and not text.isspace() else None for text in answers]
    if not any(given):
        return ANSWERED
    if len(given) > 1:
        given = ["\n  ".join((text or _NO_ANSWER).strip().splitlines()) for text in given]
    return {**ANSWERED, "answer": "\n".join(filter(None, given))}


def of_questions(arguments: dict[str, Any], key: str) -> list[str]:
    """The text that each question of a call has under `key`, empty where it has none."""
    return [text_at(each, key) or "" for each in objects_at(arguments, "questions")]


def answers_by(ids: Sequence[str], answers: Mapping[str, object]) -> list[str | None]:
    """The answers to the questions with these ids, then those to others. What is to one of several questions
    with one id is marked so, in the place of the first.
    """
    questions, left = Counter(ids), dict(answers)
    texts = [(chosen(left.pop(each, None)), questions[each]) for each in ids]
    given = [f"{text} (to one of {count} questions)" if text and count > 1 else text for text, count in texts]
    return [*given, *filter(None, map(chosen, left.values()))]


def chosen(answer: object) -> str | None:
    """An answer, or the choices where it is several; JSON of what is no text. None where there is none."""
    choices = answer if isinstance(answer, list) else [answer]
    texts = [
        each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)
        for each in choices
        if each is not None and not nests_deeper(each)
    ]
    return ", ".join(filter(None, texts)) or None


def codex_answers(output: str, ids: Sequence[str]) -> list[str | None]:
    """Of `{"answers": {id: {"answers": [text, …]}}}`, of the questions with these ids."""
    answers = object_at(_object_in(output), "answers")
    return answers_by(ids, {each: object_at(answers, each).get("answers") for each in ids})


def gemini_answers(output: str, questions: int) -> list[str | None]:
    """Of `{"answers": {index: text}}`, of so many questions; 0 where that is not known."""
    answers = object_at(_object_in(output), "answers")
    return answers_by([str(index) for index in range(questions)], answers)


def copilot_answers(output: str) -> list[str]:
    """What follows the words that Copilot CLI begins with, where it asked one question without a form."""
    texts = [output.removeprefix(each) for each in _COPILOT if output.startswith(each)]
    return [text for text in texts if not text.startswith(_COPILOT_ALONE)]


def qwen_answers(output: str, headings: Sequence[str]) -> list[str]:
    """What follows each heading, which is in bold at the beginning of a line, in the order of the questions.

    None where a heading is not there once for each question that has it: with a part of the questions
    answered, or such a line in an answer, one heading might pass for the answer to another.
    """
    marks = [f"\n**{heading}**: " for heading in headings]
    rest = output.removeprefix(_QWEN)
    if rest == output or not 0 < len(marks) <= _MOST_HEADINGS:
        return []
    if any(mark.count("\n") > 1 or rest.count(mark) != marks.count(mark) for mark in marks):
        return []
    parts = list[str]()
    for mark in marks:
        before, is_there, rest = rest.partition(mark)
        if not is_there:
            return []
        parts.append(before)
    return [] if parts[0] else [*parts[1:], rest]


def _object_in(text: str) -> dict[str, Any]:
    try:
        return parse_object(text.encode("utf-8", errors="replace"))[0]
    except UnusableLineError:
        return {}
