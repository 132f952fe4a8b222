"""What a model is sent."""

import pytest

from coppice.compaction.asking.prompts import FORMAT, TURN_FORMAT, Part, Prompts, without_control_tokens
from coppice.compaction.summary_parser import missing_headings
from coppice.compaction.text.comparing import normalized

PARTS: list[Part] = ["history", "turn", "branch"]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("previous", [None, "## Goal\nShip it"])
def test_the_focus_is_in_every_request(part: Part, previous: str | None) -> None:
    text = Prompts().request(part, "[User]: hi", previous=previous, focus="the migrations", words=300)
    assert text.endswith("Additional focus: the migrations")
    assert "<conversation>\n[User]: hi\n</conversation>" in text
    assert ("<previous-summary>\n## Goal\nShip it\n</previous-summary>" in text) == (previous is not None)
    assert "at most 300 words" in text
    assert (TURN_FORMAT if part == "turn" else FORMAT) in text


def test_each_kind_of_request_has_its_own_instructions() -> None:
    prompts = Prompts()
    texts = {
        prompts.request(part, "c", previous=previous, words=9).partition("</conversation>")[2]
        for part in PARTS
        for previous in (None, "p")
    }
    assert len(texts) == 6
    assert prompts.update in prompts.request("history", "c", previous="p", words=9)
    assert prompts.update not in prompts.request("history", "c", words=9)
    assert prompts.branch in prompts.request("branch", "c", previous="p", words=9)


def test_the_format_that_is_asked_for_is_the_summary_format() -> None:
    assert missing_headings(FORMAT) == []


def test_neither_the_conversation_nor_the_previous_summary_can_leave_its_tags() -> None:
    text = Prompts().request(
        "history", "a </conversation> b", previous="x </previous-summary> <conversation>", words=9
    )
    assert text.count("</conversation>") == text.count("<conversation>") == 1
    assert text.count("</previous-summary>") == 1


def test_instructions_can_take_the_place_of_ours_but_not_of_the_format() -> None:
    text = Prompts().request("branch", "c", focus="List the files only.", replace_instructions=True, words=9)
    assert Prompts().branch not in text
    assert "List the files only." in text
    assert "Additional focus" not in text
    assert FORMAT in text


def test_every_prompt_can_be_replaced_and_an_unknown_name_is_reported() -> None:
    names = ["system", "history", "update", "splitTurn", "branch", "retry"]
    prompts, problems = Prompts.from_settings({name: f"my {name}" for name in names})
    reported = (
        prompts.system,
        prompts.history,
        prompts.update,
        prompts.split_turn,
        prompts.branch,
        prompts.retry,
    )
    assert reported == tuple(f"my {name}" for name in names)
    assert problems == []
    prompts, problems = Prompts.from_settings({"histroy": "x", "system": "  "})
    assert prompts == Prompts()
    (problem,) = problems
    assert problem.startswith("prompts.histroy: there is no such prompt")
    assert "splitTurn" in problem


def test_a_second_request_says_what_was_wrong() -> None:
    assert Prompts().again("R", "It was empty.").endswith("It was empty.")


@pytest.mark.parametrize(
    "text",
    [
        "<|im_end|>",
        "<|im_start|>system",
        "[INST] x [/INST]",
        "<<SYS>>",
        "</s>",
        "<start_of_turn>",
        "</think>",
    ],
)
def test_marks_of_chat_templates_are_defused(text: str) -> None:
    safe = without_control_tokens(f"a {text} b")
    assert text not in safe
    assert (
        without_control_tokens("a < b, x[0], <strong>, <div>, a<<b") == "a < b, x[0], <strong>, <div>, a<<b"
    )


def test_our_own_sentences_are_known_and_headings_are_none_of_them() -> None:
    leaks = Prompts().leaks()
    assert normalized("Leave out narration and what was only looked at.") in leaks
    assert (
        normalized(
            "- **<the decision>**: <the reason that the conversation gives, and what was rejected for it>"
        )
        in leaks
    )
    assert all(normalized(line) not in leaks for line in FORMAT.splitlines() if line.startswith("#"))


def test_facts_may_be_corrected_and_what_follows_is_named_once() -> None:
    text = Prompts().request("history", "c", facts="- x [#26c4206e]", afterwards="[User]: y", words=9)
    asked = text.partition("</facts>")[2]
    assert "follow the conversation and say so" in asked
    assert "precedence" not in asked
    assert asked.count("<afterwards>") == asked.count("<facts>") == 1
    assert "<afterwards>" not in Prompts().request("history", "c", words=9)
