"""Which messages answer a question, and which answers decide something, on labelled messages."""

from pathlib import Path

from coppice.compaction.text.answers import decides, is_answer


def rows(name: str) -> list[list[str]]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


def test_answers_to_a_question_are_told_from_requests() -> None:
    replies = rows("replies.tsv")
    assert len(replies) >= 60
    assert [text for label, text in replies if is_answer(text) != (label == "answer")] == []


def test_answers_that_decide_something_are_told_from_those_that_only_let_the_work_go_on() -> None:
    answers = rows("decisions.tsv")
    assert len(answers) >= 50
    wrong = [
        f"{asked} {answer}"
        for label, asked, answer in answers
        if decides(asked, answer) != (label == "decision")
    ]
    assert wrong == []
