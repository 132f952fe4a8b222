"""Whether a summary says what a user said, on labelled pairs in other words and on the same subject."""

from pathlib import Path

import pytest
from talk import tool

from coppice.compaction.checking.stated import Statements
from coppice.compaction.facts.ledger import LedgerBuilder
from coppice.compaction.writing.facts_text import facts_text
from coppice.protocol.state import Check, UsedCommand, WorkState
from coppice.tokens.counting import estimate_tokens
from coppice.tree.messages import ANSWERED, Message, UserMessage

PAIRS = [
    line.split("\t")
    for line in Path(__file__).with_name("stated_sentences.tsv").read_text(encoding="utf-8").splitlines()
]
FILLER = "\n".join(f"- The module {name} was read and its tests pass." for name in "abcdefghijklmnop")


@pytest.mark.parametrize("filler", ["", FILLER])
@pytest.mark.parametrize(("label", "least"), [("said", 0.9), ("lost", 0.93)])
def test_most_pairs_are_told_apart(label: str, least: float, filler: str) -> None:
    pairs = [(sentence, summary) for actual, sentence, summary in PAIRS if actual == label]
    right = sum(
        Statements(f"{filler}\n{summary}").say(sentence) == (label == "said") for sentence, summary in pairs
    )
    assert right >= least * len(pairs)


def test_a_statement_with_another_number_is_not_said() -> None:
    statements = Statements("`pytest -q` fails: 3 failed, 40 passed.")
    assert statements.say_exactly("- `pytest -q` fails: 3 failed, 40 passed")
    assert not statements.say_exactly("- `pytest -q` fails: 2 failed, 40 passed")


def test_a_sentence_without_words_of_its_own_needs_no_place() -> None:
    assert Statements("").say("Do it.")


def test_only_what_the_summary_lacks_is_listed() -> None:
    said: list[Message] = [
        UserMessage(content="Add a dark mode to the settings page. Never change the file settings.ini."),
        UserMessage(content="Use port 48117, because 8080 is taken by the proxy."),
    ]
    ledger = LedgerBuilder().add_messages(said).ledger
    summary = (
        "The user wants a dark mode on the settings page. The port is 48117 (8080 belongs to the proxy)."
    )
    text = facts_text(ledger, 500, summary)
    assert "settings.ini" in text
    assert "dark mode" not in text
    assert "48117" not in text
    assert facts_text(ledger, 500, f"{summary} The file settings.ini must never change.") == ""


def test_an_answer_of_which_the_summary_lacks_a_part_is_listed_whole() -> None:
    questions = [{"question": "Write tests of tabs?"}, {"question": "Push to main?"}]
    answer = "No, never write a test of tabs.\n(no answer)"
    asked = tool("ask", {"questions": questions}, "", details={**ANSWERED, "answer": answer})
    ledger = LedgerBuilder().add_messages(asked).ledger
    listed = "> No, never write a test of tabs.\n> (no answer)"
    assert listed in facts_text(ledger, 500, "Nobody was asked.")
    assert listed in facts_text(ledger, 500, "Never write a test of tabs.")


def test_a_failure_that_the_summary_lacks_is_listed() -> None:
    state = WorkState(checks=[Check(command="pytest -q", passed=False, result="3 failed")])
    ledger = LedgerBuilder().ledger.model_copy(update={"state": state})
    assert "3 failed" in facts_text(ledger, 500, "The tests were run with pytest.")
    assert facts_text(ledger, 500, "`pytest -q` fails: 3 failed.") == ""


def test_the_commands_that_are_used_are_nothing_that_a_summary_lost() -> None:
    state = WorkState(used=[UsedCommand(command="bd ready", times=2)])
    ledger = LedgerBuilder().ledger.model_copy(update={"state": state})
    assert "bd ready" in facts_text(ledger, 500)
    assert facts_text(ledger, 500, "A summary about something else.") == ""


def test_the_text_keeps_to_its_tokens() -> None:
    said: list[Message] = [
        UserMessage(content=f"Rule {n}: module{n} must never import module{n + 1} directly.")
        for n in range(400)
    ]
    text = facts_text(LedgerBuilder().add_messages(said).ledger, 2_000, "A summary about something else.")
    assert 500 < estimate_tokens(text) <= 2_000
