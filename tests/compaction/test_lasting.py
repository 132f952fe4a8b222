"""Which sentences of a user last, on labelled sentences written without knowledge of the features."""

from pathlib import Path

import pytest

from coppice.compaction.text.lasting import is_answer, is_lasting, lasting_sentences

ROWS = [
    line.split("\t")
    for line in Path(__file__).with_name("lasting_sentences.tsv").read_text(encoding="utf-8").splitlines()
]
ASSISTANTS = 30
"""The last rows are sentences of assistants, which nobody asks about; the rest are users'."""
USERS = ROWS[:-ASSISTANTS]


@pytest.mark.parametrize(("language", "precision", "recall"), [("en", 0.77, 0.78), ("zh", 0.79, 0.80)])
def test_most_rules_are_recognized_and_most_of_what_is_recognized_is_one(
    language: str, precision: float, recall: float
) -> None:
    rules = {sentence for label, spoken, sentence in USERS if spoken == language and label == "rule"}
    taken = {sentence for _, spoken, sentence in USERS if spoken == language and is_lasting(sentence)}
    assert len(taken & rules) >= precision * len(taken)
    assert len(taken & rules) >= recall * len(rules)


def test_the_set_is_what_it_says() -> None:
    assert len(ROWS) == len({sentence for _, _, sentence in ROWS}) >= 300
    assert {label for label, _, _ in ROWS[-ASSISTANTS:]} == {"other"}


def test_code_output_quotes_and_pasted_blocks_state_no_rule() -> None:
    text = (
        "No new dependencies.\n```\nnever = 1  # all tests, not some\n```\n> All files are UTF-8.\n"
        "ERROR: the value must never be 0\n<log>\nNo mocks in tests.\n</log>\nCommit messages in English."
    )
    assert lasting_sentences(text) == ["No new dependencies.", "Commit messages in English."]


def test_answers_to_a_question_are_told_from_requests() -> None:
    replies = Path(__file__).with_name("replies.tsv").read_text(encoding="utf-8").splitlines()
    wrong = [
        text
        for label, text in (line.split("\t") for line in replies)
        if is_answer(text) != (label == "answer")
    ]
    assert len(replies) >= 60
    assert wrong == []
