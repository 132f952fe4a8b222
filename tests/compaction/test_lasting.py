"""Which sentences of a user last, on labelled sentences written without knowledge of the features."""

from pathlib import Path

import pytest

from coppice.compaction.text.lasting import is_lasting, lasting_sentences


def rows(name: str) -> list[list[str]]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


ROWS = rows("lasting_sentences.tsv")
HELD_OUT = rows("lasting_held_out.tsv")
"""Nothing is fitted to these: how well the features do on what they were not made for."""
ASSISTANTS = 30
"""The last rows are sentences of assistants, which nobody asks about; the rest are users'."""
USERS = ROWS[:-ASSISTANTS]


@pytest.mark.parametrize(
    ("labelled", "language", "precision", "recall"),
    [(USERS, "en", 0.88, 0.78), (USERS, "zh", 0.84, 0.80), (HELD_OUT, "en", 0.71, 0.80)],
)
def test_most_rules_are_recognized_and_most_of_what_is_recognized_is_one(
    labelled: list[list[str]], language: str, precision: float, recall: float
) -> None:
    rules = {sentence for label, spoken, sentence in labelled if spoken == language and label == "rule"}
    taken = {sentence for _, spoken, sentence in labelled if spoken == language and is_lasting(sentence)}
    assert len(taken & rules) >= precision * len(taken)
    assert len(taken & rules) >= recall * len(rules)


def test_the_set_is_what_it_says() -> None:
    sentences = [sentence for _, _, sentence in [*ROWS, *HELD_OUT]]
    assert len(sentences) == len(set(sentences)) >= 300
    assert {label for label, _, _ in ROWS[-ASSISTANTS:]} == {"other"}


def test_code_output_quotes_and_pasted_blocks_state_no_rule() -> None:
    text = (
        "No new dependencies.\n```\nnever = 1  # all tests, not some\n```\n> All files are UTF-8.\n"
        "ERROR: the value must never be 0\n<log>\nNo mocks in tests.\n</log>\nCommit messages in English."
    )
    assert lasting_sentences(text) == ["No new dependencies.", "Commit messages in English."]


def test_what_is_pasted_between_lines_of_output_states_no_rule() -> None:
    trace = (
        "Error: no such file\n    at load (config.js:7:3)\n    No frame is skipped.\n  errno: -2\n}\n\n"
        "No retries anywhere.\nTypeError: x is undefined\nNever rename the exports."
    )
    assert lasting_sentences(trace) == ["No retries anywhere.", "Never rename the exports."]


def test_questions_and_ends_of_parentheses_state_no_rule() -> None:
    assert lasting_sentences("(main.ts, right? nothing else), and never touch the map. No mocks?") == []
