"""What a model answered: cleaned, or refused with a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import GOOD, reply_of

from coppice.compaction.asking.prompts import FORMAT, Part, Prompts
from coppice.compaction.checking.cleanup import without_loops
from coppice.compaction.checking.narrative import is_in_format, safe_text
from coppice.compaction.checking.validation import Validation, validate
from coppice.compaction.summary import Summary, SummaryDecision
from coppice.compaction.summary_parser import parse_summary
from coppice.tree.messages import AssistantMessage, StopReason, TextContent, ToolCall

LEAKS = Prompts().leaks()
TURN = "- Request: add the exporter\n- Done: wrote `src/exporter.py`\n- Next: test it"


def validated(text: str, part: Part = "history", stop: StopReason = "stop") -> Validation:
    return validate(reply_of(text, stop), part, LEAKS)


def summary_of(text: str, stop: StopReason = "stop") -> tuple[Summary, tuple[str, ...]]:
    validation = validated(text, stop=stop)
    assert validation.text is not None, validation.problem
    return parse_summary(validation.text), validation.repaired


def test_a_good_summary_is_taken_as_it_is() -> None:
    nested = GOOD.replace(
        "- The port is 5433", "- The port is 5433:\n  - for tests\n\n  ```sh\n  # ports\n  ```\n- 1 < 2"
    )
    assert validated(nested) == Validation(nested, ())


def test_a_heading_that_has_nothing_says_so() -> None:
    empty = GOOD.replace("(none)\n", "\n").replace("\n- The port is 5433", "")
    assert validated(empty).text == GOOD.replace("- The port is 5433", "(none)").replace(
        "(none)\n\n", "(none)\n\n\n"
    )


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        (f"Sure, here is the summary:\n\n{GOOD}", "preamble"),
        (f"Sure!\nSummary of it:\nWe talked.\n\n{GOOD}", "preamble"),
        (f"{GOOD}\n\nLet me know if you need anything else!", "farewell"),
        (f"{GOOD}\n\n如果您还需要什么，请告诉我。", "farewell"),
        (f"```markdown\n{GOOD}\n```", "code fence"),
        (f"<think>\nThe user wants a summary. ## Goal\n</think>\n{GOOD}", "thinking"),
        (f"The user wants notes, so I write.\n</think>\n\n{GOOD}", "thinking"),
        (f'{GOOD}\n<tool_call>{{"name": "Bash"}}</tool_call>', "tool calls"),
        (f"{GOOD}\n\n<read-files>\n/etc/passwd\n</read-files>", "file lists"),
        (f"{GOOD}\n\n<Modified_Files>\nfake.py\n</Modified_Files>", "file lists"),
        (f"{GOOD}\n\n<modified-files>\nfake.py", "file lists"),
        (f"{GOOD}\n\n## Modified Files\n- fake.py", "file lists"),
        (f"{GOOD}\n- {Prompts().update}", "leaked instructions"),
        (
            GOOD.replace("(none)\n\n## Key", "- <what fails, with the exact error message>\n\n## Key"),
            "leaked instructions",
        ),
        (GOOD.replace("(none)\n\n## Key", "- [insert the blockers here]\n\n## Key"), "placeholders"),
        (f"{GOOD}\n---\n\n**Turn Context (split turn):**\n\n- Request: send the keys", "turn context"),
        (f"{GOOD}\n- The port is 5433\n- The port is 5433\n- The port is 5433", "repetition"),
        (f"{GOOD} is is is is is is is is is", "repetition"),
    ],
)
def test_what_is_no_part_of_a_summary_comes_off(text: str, repaired: str) -> None:
    summary, mended = summary_of(text)
    assert repaired in mended
    if not text.endswith("is is"):
        assert summary == parse_summary(GOOD)
    assert "passwd" not in summary.render()
    assert "fake.py" not in summary.render()


def test_headings_of_other_shapes_are_mapped_and_missing_ones_added() -> None:
    text = (
        "# Summary\n\n**not a heading**\n\n## Goals\nShip it\n\n## Completed\n- the parser\n\n"
        "## Decisions\n- **SQLite**: simple"
    )
    summary, repaired = summary_of(text)
    assert summary.goal == ("Ship it",)
    assert summary.done == ("the parser",)
    assert summary.decisions == (SummaryDecision("SQLite", "simple"),)
    assert "headings" in repaired


def test_an_answer_cut_off_by_the_limit_loses_its_half_line() -> None:
    cut = GOOD.partition("1. Write the")[0] + "1. Write the expo"
    summary, repaired = summary_of(cut, stop="length")
    assert summary.goal == ("Build the importer",)
    assert summary.next_steps == ()
    assert {"cut off", "headings"} <= set(repaired)


def test_an_answer_cut_off_too_early_is_refused() -> None:
    validation = validated(
        "## Goal\nBuild the importer.\n\n## Constraints & Preferences\n- Nev", stop="length"
    )
    assert validation.text is None
    assert "cut off" in validation.problem


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("   \n ", "empty"),
        ("Sure! You can fix the bug by changing line 4 of a.py. Shall I do it?", "answered"),
        ("I'm sorry, but I can't help with that.", "without the headings"),
        ("抱歉，我无法完成这个请求。", "without the headings"),
        ('<tool_call>{"name": "Bash", "arguments": {}}</tool_call>', "tool"),
        ('{"name": "Bash", "arguments": {"command": "ls"}}', "tool"),
        ("<think>I should write a summary of", "nothing but thinking"),
        (FORMAT, "nothing is under"),
        ("## Goal\n(none)\n\n## Progress\n(none)", "nothing is under"),
        (Prompts().system, "instructions"),
        ("word " * 2_000, "repeated itself"),
        ("## Goal\nWe did it.\n" + "- and then we fixed the parser again\n" * 400, "repeated itself"),
        ("OK", "answered"),
    ],
)
def test_what_is_no_summary_is_refused_with_a_reason(text: str, word: str) -> None:
    validation = validated(text)
    assert validation.text is None
    assert word in validation.problem


def test_an_answer_that_calls_a_tool_or_only_thinks_is_refused() -> None:
    call = ToolCall(id="1", name="Bash", arguments={})
    assert "called a tool" in validate(AssistantMessage(content=[call]), "history", LEAKS).problem
    spent = validate(AssistantMessage(content=[], stop_reason="length"), "history", LEAKS)
    assert "thinking" in spent.problem


def test_a_turn_is_a_list_of_labelled_lines() -> None:
    validation = validated(f"Here you go:\n\n**Turn Context (split turn):**\n{TURN}\n- Error: (none)", "turn")
    assert validation.text == TURN
    assert validation.repaired == ("preamble",)


@pytest.mark.parametrize(
    "text", ["", "I'm sorry, I can't.", "The user asked for an exporter.", '{"name": "Bash"}', "- Request:"]
)
def test_what_is_no_list_of_a_turn_is_refused(text: str) -> None:
    assert validated(text, "turn").text is None


def test_a_summary_that_names_nothing_of_the_conversation_is_of_something_else() -> None:
    material = " ".join(f"src/part_{number}.py" for number in range(20))
    other = validate(reply_of(GOOD), "history", LEAKS, material)
    assert other.text is None
    assert "names no file" in other.problem
    assert validate(reply_of(GOOD), "history", LEAKS, f"{material} src/importer.py").text is not None
    assert validate(reply_of(GOOD), "history", LEAKS, "We talked about the weather.").text is not None


def test_loops_are_cut_and_code_is_not() -> None:
    code = "## Goal\n```ruby\nend\n  end\nend\n```\n- a\n- a\n| x | x | x |"
    assert without_loops(code) == code
    assert without_loops("- go go go go go") == "- go"
    assert without_loops("- a b c a b c a b c a b c d") == "- a b c d"
    sentence = "The reader takes each row of the file as it comes, and it writes each one down."
    assert without_loops(f"- {' '.join([sentence] * 5)} Then it ends.") == f"- {sentence} Then it ends."


@given(st.text(max_size=500), st.sampled_from(["stop", "length", "toolUse"]))
def test_any_answer_is_judged_and_comes_out_without_structure_of_its_own(text: str, stop: StopReason) -> None:
    for part in ("history", "turn", "branch"):
        validation = validate(
            AssistantMessage(content=[TextContent(text=text)], stop_reason=stop), part, LEAKS
        )
        assert (validation.text is None) == bool(validation.problem)
        if validation.text is not None:
            assert safe_text(validation.text) == validation.text
            assert part == "turn" or is_in_format(validation.text)


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    "unit", ["a ", "- x y z\n", "<think>", "<read-files>", "```\n", "# h\n", "\n", "<tool_call>", "**a", "{"]
)
def test_half_a_megabyte_of_anything_is_judged_at_once(unit: str) -> None:
    assert validated(unit * (500_000 // len(unit))).problem or unit == "**a"
