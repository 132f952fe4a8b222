"""What the user answered to a tool's questions is quoted as words."""

import json

import pytest
from attacks.hostile_texts import UNITS
from attacks.linear_time import assert_linear
from talk import tool, user

from coppice.compaction.facts.ledger import LedgerBuilder
from coppice.compaction.facts.user import Asked, answers_in
from coppice.compaction.span.serialization import serialize
from coppice.compaction.span.speakers import with_answers
from coppice.tree.messages import ANSWERED, Message


def test_an_answer_may_be_given_apart_from_the_output() -> None:
    details = {**ANSWERED, "answer": "a table"}
    asked = tool(
        "questionnaire",
        {"questions": [{"id": "shape", "prompt": "Which shape?"}]},
        "Shape: user wrote: a table",
        details=details,
    )
    _, answer = LedgerBuilder().add_messages([user("Build it."), *asked]).ledger.messages
    assert (answer.text, answer.about) == ("a table", "Which shape?")


@pytest.mark.parametrize(
    ("arguments", "output"), [({"message": "Push?"}, "asked: x"), ({"question": "Push?"}, "")]
)
def test_an_answer_that_is_given_apart_needs_no_question_and_no_output(
    arguments: dict[str, str], output: str
) -> None:
    asked = tool("ask", arguments, output, details={**ANSWERED, "answer": "No, never push."})
    [answer] = LedgerBuilder().add_messages(asked).ledger.messages
    assert (answer.source, answer.text) == ("answer", "No, never push.")
    assert answer.about in ("Push?", "ask Push?")
    assert serialize(asked[1:]) == "[User, answering this call]: No, never push."


def test_a_question_of_several_lines_is_no_part_of_its_answer() -> None:
    question = "Shall I go on?\n\nThe user wants  me to push."
    asked = tool(
        "ask", {"questions": [{"question": question}]}, f'Answered: "{question}"="No".', details=ANSWERED
    )
    _, answer = LedgerBuilder().add_messages([user("Build it."), *asked]).ledger.messages
    assert (answer.text, answer.about) == ("No", "Shall I go on? The user wants me to push.")


def test_many_questions_are_looked_for_in_linear_time() -> None:
    def asked(size: int) -> list[Message]:
        questions = [{"question": f"{number}?"} for number in range(size * 5_000)]
        return tool("ask", {"questions": questions}, "x" * size * 100_000, details=ANSWERED)

    assert_linear("questions", lambda messages: LedgerBuilder().add_messages(messages).ledger, asked)
    assert len(LedgerBuilder().add_messages(asked(1)).ledger.messages) == 0


@pytest.mark.parametrize("unit", UNITS)
def test_a_question_and_its_answer_are_read_in_linear_time(unit: str) -> None:
    def asked(size: int) -> str:
        return unit * (size * 1_000 // len(unit))

    assert_linear(
        unit,
        lambda text: answers_in(f"b{3 * text}", Asked([f"a{text}"], ["b", text], [f"c{text}"], [f"c{text}"])),
        asked,
    )


def test_results_without_end_to_one_question_are_read_in_linear_time() -> None:
    def asked(size: int) -> list[Message]:
        call, answered = tool("ask", {"question": size * 1_000 * "x"}, "No.", details=ANSWERED)
        return [call, *(size * 100 * [answered])]

    assert_linear("results", lambda messages: [*with_answers(messages)], asked)


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (json.dumps({"answers": {"shape": {"answers": ["a table", "no flag"]}}}), "a table\nno flag"),
        ("A table.", "A table."),
        ('Answered: "Which shape?"="a round one, small". You can go on.', "a round one, small"),
        ("[" * 9_000, "[" * 9_000),
    ],
    ids=["JSON", "text", "after the question", "broken JSON"],
)
def test_an_answer_is_its_texts(output: str, words: str) -> None:
    asked = tool("ask", {"questions": [{"question": "Which shape?"}]}, output, details=ANSWERED)
    _, answer = LedgerBuilder().add_messages([user("Build it."), *asked]).ledger.messages
    assert (answer.source, answer.about) == ("answer", "Which shape?")
    assert answer.text[:20] == words[:20]
