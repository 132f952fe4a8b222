"""Which sentences of assistants give a reason, on labelled sentences; none is from a recorded session."""

from pathlib import Path

import pytest

from coppice.compaction.text.markdown import CODE
from coppice.compaction.text.reasons import is_reason, reason_in

ROWS = [
    line.split("\t")
    for line in Path(__file__).with_name("reason_sentences.tsv").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize(("language", "precision", "recall"), [("en", 0.92, 0.84), ("zh", 1.0, 0.93)])
def test_what_is_taken_for_a_reason_is_one_and_most_are_recognized(
    language: str, precision: float, recall: float
) -> None:
    rows = [(label == "reason", sentence) for label, written, sentence in ROWS if written == language]
    reasons = {sentence for is_one, sentence in rows if is_one}
    taken = {sentence for _, sentence in rows if is_reason(sentence)}
    named = {sentence for _, sentence in rows if CODE.search(sentence)}
    assert len(taken & reasons) >= precision * len(taken)
    assert len(taken & reasons) >= recall * len(reasons)
    assert len(named & reasons) < recall * len(reasons)  # to name something is no reason


def test_the_words_of_code_give_no_reason() -> None:
    assert not is_reason("I call `only(not_null)` with the rows.")
    assert is_reason("I call `now()` once, since the clock differs.") is False
    assert is_reason("I call `now()` here, since the clock differs.")


def test_a_question_and_a_single_sentence_give_no_reason() -> None:
    assert reason_in("The hook cannot run. Shall I skip it?") == ""
    assert reason_in("I skip the hook, since it cannot run.") == ""
    assert reason_in("The hook cannot run. I skip it. Let me commit.") == "The hook cannot run. I skip it."
