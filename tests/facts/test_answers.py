"""What the user answered to a tool's questions is quoted as words."""

import pytest
from talk import tool, user

from coppice.compaction.facts.ledger import LedgerBuilder
from coppice.compaction.span.serialization import serialize
from coppice.tree.messages import ANSWERED, AssistantMessage, ToolCall, ToolResultMessage


def test_an_answer_is_apart_from_the_output() -> None:
    asked = tool(
        "questionnaire",
        {"questions": [{"id": "shape", "prompt": "Which shape?"}, {"question": "Which\n\nsize?"}]},
        "Shape: user wrote: a table",
        details={**ANSWERED, "answer": "a table"},
    )
    _, answer = LedgerBuilder().add_messages([user("Build it."), *asked]).ledger.messages
    assert (answer.source, answer.text, answer.about) == ("answer", "a table", "Which shape? Which size?")


def test_a_question_without_a_text_keeps_its_place() -> None:
    questions = [{"question": "", "header": "Use tabs?"}, {"question": "Push to main?"}]
    asked = tool("ask", {"questions": questions}, "x", details={**ANSWERED, "answer": "Yes\n(no answer)"})
    [answer] = LedgerBuilder().add_messages(asked).ledger.messages
    assert (answer.text, answer.about) == ("Yes\n(no answer)", "(no question) Push to main?")


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        ({"message": "Push?"}, "asked: x"),
        ({"question": "Push?"}, ""),
        ({"question": "Push?"}, "Process exited with code 2"),
    ],
)
def test_an_answer_needs_no_question_and_no_output(arguments: dict[str, str], output: str) -> None:
    asked = tool("ask", arguments, output, details={**ANSWERED, "answer": "No, never push."})
    [answer] = LedgerBuilder().add_messages(asked).ledger.messages
    assert (answer.source, answer.text) == ("answer", "No, never push.")
    assert answer.about in ("Push?", "ask Push?")
    assert serialize(asked[1:]) == "[User, answering this call]: No, never push."


def test_a_long_answer_is_not_cut() -> None:
    answer = "".join(f"Rule {number} holds. " for number in range(400))
    asked = tool("ask", {"question": "Rules?"}, "x", details={**ANSWERED, "answer": answer})
    assert serialize(asked[1:]) == f"[User, answering this call]: {answer}"


def test_of_calls_with_one_id_each_has_its_own_answer() -> None:
    asked = {"Delete the branch?": "Yes", "Push to main?": "No"}
    calls = [ToolCall(id="c", name="ask", arguments={"question": each}) for each in asked]
    results = [
        ToolResultMessage(tool_call_id="c", tool_name="ask", content=[], details={**ANSWERED, "answer": each})
        for each in (*asked.values(), "Push.")
    ]
    asking = AssistantMessage(content=[*calls])
    for replies in ([asking], [asking, asking]):
        answers = LedgerBuilder().add_messages(replies).add_messages(results).ledger.messages
        assert [(each.about, each.text) for each in answers] == [*asked.items()]
