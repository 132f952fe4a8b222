"""What the user answered to a tool's questions, as agents write it: nothing of it is the model's.

The questions, headings and choices are the model's words. Where an agent writes them beside the answers, no
answer is read unless they are certainly taken off.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from coppice.formats.lines import UnusableLineError, object_at, objects_at, parse_object, text_at
from coppice.tree.messages import ANSWERED

_COPILOT: Final = ("User selected: ", "User responded: ")
_COPILOT_ALONE: Final = "The user is not available to respond"
"""How Copilot CLI begins its own answer, in which it works without the user."""
_QWEN: Final = "User has provided the following answers:\n"
_MOST_HEADINGS: Final = 4  # in a call of Qwen Code; each is looked for in the whole output


def answered(texts: Iterable[object]) -> dict[str, Any]:
    """`details` of a result that has these answers of the user; what is no text is none."""
    answer = "\n".join(text for text in texts if isinstance(text, str) and text)
    return {**ANSWERED, "answer": answer} if answer else ANSWERED


def question_ids(arguments: dict[str, Any]) -> list[str]:
    """The ids of a call's questions, by which Codex names the answers."""
    ids = (text_at(each, "id") for each in objects_at(arguments, "questions"))
    return [*dict.fromkeys(each for each in ids if each is not None)]


def question_headings(arguments: dict[str, Any]) -> list[str]:
    """The headings of a call's questions, which Qwen Code writes before the answers."""
    return [text_at(each, "header") or "" for each in objects_at(arguments, "questions")]


def codex_answers(output: str, ids: Iterable[str]) -> list[object]:
    """Of `{"answers": {id: {"answers": [text, …]}}}`, in the order of the questions with these ids; none
    where a question has none, as another's answer would pass for its own.
    """
    answers = object_at(_object_in(output), "answers")
    given = [object_at(answers, each).get("answers") for each in ids]
    texts = [each for each in given if isinstance(each, list) and each]
    return [text for each in texts for text in each] if len(texts) == len(given) else []


def gemini_answers(output: str) -> list[object]:
    """Of `{"answers": {index: text}}`, in the order of the questions; none where a question before an
    answered one has none.
    """
    answers = object_at(_object_in(output), "answers")
    return [*answers.values()] if [*answers] == [str(number) for number in range(len(answers))] else []


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
