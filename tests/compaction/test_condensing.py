"""What a summarizer is shown of a span: the brief whole, what is repeated or replaced in short."""

import sys
from collections.abc import Callable

import pytest
from talk import edit, reply, run, tool, user

from coppice.compaction.checking.verification import unsupported
from coppice.compaction.span.chunking import grouped
from coppice.compaction.span.condensing import condensed
from coppice.compaction.span.outputs import decoded, without_progress
from coppice.compaction.span.serialization import LOOKED_UP, serialize
from coppice.tree.messages import (
    ANSWERED,
    AssistantMessage,
    CustomRoleMessage,
    DeveloperMessage,
    Message,
    TextContent,
    ToolCall,
    ToolResultMessage,
)
from coppice.tree.tags import attachment

LONG = "".join(f"The rule {'abcdefghij'[n % 10] * (1 + n // 10)} holds.\n" for n in range(300))


def shown(*messages: Message) -> str:
    return serialize(condensed(messages), None)


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("Do what docs/plan.md says", tool("Read", {"file_path": "/home/me/shop/docs/plan.md"}, LONG)),
        ("Work on issue 20, please", run("issues show 20", LONG)),
        ("Take shop-7", tool("tracker_show_issue", {"id": "shop-7"}, LONG)),
        ("Work on bead shop-cart", run("bd show shop-cart; bd show shop-cart.1 2>&1", LONG)),
        ("Work on bead shop-cart", run("bd show shop-cart.1", LONG)),
        ("See https://example.com/spec?v=2", tool("WebFetch", {"url": "https://example.com/spec?v=2"}, LONG)),
    ],
)
def test_a_brief_that_the_user_pointed_to_stays_whole(words: str, call: list[Message]) -> None:
    assert LONG.strip() in shown(user(words), *call)
    assert "characters left out" in shown(user("Go on"), *call)


@pytest.mark.parametrize("command", ["cat shop-cart/show.py", "ls /home/me/shop-cart | grep task"])
def test_a_folder_with_the_name_of_an_issue_is_none(command: str) -> None:
    assert "characters left out" in shown(user("Work on bead shop-cart"), *run(command, LONG))


@pytest.mark.parametrize("command", ["head -20 src/a.py", "sed -n 20p NOTES", "pytest -k 20"])
def test_a_number_alone_points_to_nothing(command: str) -> None:
    assert "characters left out" in shown(user("Work on issue 20, please"), *run(command, LONG))


def test_what_an_attached_file_names_the_user_did_not_point_to() -> None:
    asked = f"Explain this.\n{attachment('a.md', 'Do what docs/plan.md says')}"
    assert LONG not in shown(user(asked), *tool("Read", {"file_path": "docs/plan.md"}, LONG))


def test_of_calls_that_were_made_again_the_newest_result_has_the_room() -> None:
    polls = [message for n in range(9) for message in run("tail build.log", f"{n} of 9 " + "x " * 900)]
    text = shown(*polls)
    assert 8 * 400 + 1_800 < len(text) < 8 * 600 + 2_200
    assert "8 of 9" in text


JOBS = [f"  * job {'abcdefghij'[n % 10] * (1 + n // 10)} is waiting for its runner" for n in range(30)]


def polled(command: str, *lines: str) -> list[Message]:
    return run(command, "\n".join(lines))


def test_of_lines_that_outputs_repeat_the_newest_are_shown() -> None:
    done = [*JOBS[:20], "  ok job k", *JOBS[20:]]
    text = shown(*polled("gh run view 7", "1 s", *JOBS), *polled("gh run watch 7", "2 s", *done))
    assert "1 s\n[… 20 lines as in a later output …]\n" + JOBS[20] in text
    assert "\n".join(["2 s", *done]) in text
    thrice = shown(*(message for n in range(3) for message in polled(f"gh run view {n}", f"{n} s", *JOBS)))
    assert thrice.count(JOBS[0]) == 1
    assert thrice.index("1 s\n[… 30 lines as in a later output …]") < thrice.index(JOBS[0])


def test_a_repeated_line_that_is_not_shown_below_stays() -> None:
    """The later output has it in what is left out of its middle."""
    large = [f"line {'abcdefghij'[n % 10] * (n + 1)}" for n in range(90)]
    text = shown(*polled("gh run view 7", *large[30:45]), *polled("gh run view --log 7", *large))
    assert "\n".join(large[30:45]) in text
    assert "characters left out" in text


def test_what_repeats_many_lines_is_shown_whole_and_not_cut() -> None:
    screens = "\n".join(f"{n} s\n" + "\n".join(JOBS) for n in range(9))
    text = shown(*run("gh run watch 7", screens), *polled("gh run view 7", *JOBS))
    assert "characters left out" not in text
    assert text.count("[… 30 lines as in a later output …]") == 9


@pytest.mark.parametrize(
    "messages",
    [
        [message for n in "ab" for message in tool("Read", {"path": f"{n}.py"}, "\n".join(JOBS))],
        [message for n in "ab" for message in polled(f"cat {n}.py", *JOBS)],
        [message for n in "ab" for message in polled(f"gh run view {n}", *JOBS[:3])],
        [user("\n".join(JOBS)), reply("\n".join(JOBS)), *polled("gh run view 7", *JOBS)],
        [
            *tool("Ask", {"question": "Which?"}, "\n".join(JOBS), details={"answered": True, "answer": "a"}),
            *polled("gh run view 7", *JOBS),
        ],
        [user("Do what plan.md says"), *polled("cat plan.md", *JOBS), *polled("gh run view 7", *JOBS)],
    ],
    ids=["files", "files by a shell", "few", "words", "an answer", "a brief"],
)
def test_of_files_words_and_short_blocks_all_repetitions_stay(messages: list[Message]) -> None:
    assert "as in a later output" not in shown(*messages)


def test_a_file_stays_whose_call_has_the_id_of_a_command() -> None:
    messages: list[Message] = []
    for name, arguments, text in (
        ("Bash", {"command": "make"}, "done"),
        ("Read", {"path": "a.py"}, "\n".join(JOBS)),
    ):
        call = ToolCall(id="1", name=name, arguments=arguments)
        result = ToolResultMessage(tool_call_id="1", tool_name=name, content=[TextContent(text=text)])
        messages += [AssistantMessage(content=[call]), result]
    assert "as in a later output" not in shown(*messages, *polled("gh run view 7", *JOBS))


def test_a_result_whose_call_s_id_is_used_again_is_shown() -> None:
    calls: list[Message] = [
        AssistantMessage(content=[ToolCall(id="1", name="Bash", arguments={"command": name})])
        for name in "ab"
    ]
    answer = ToolResultMessage(tool_call_id="1", tool_name="Bash", content=[TextContent(text="done it")])
    assert "done it" in shown(calls[0], answer, calls[1])


def test_the_end_of_an_output_stays_and_of_a_failure_too() -> None:
    output = "x " * 5_000 + "\nE   ValueError: bad row\n" + "y " * 500
    assert "ValueError: bad row" in shown(*run("pytest", output))
    assert "ValueError: bad row" in shown(*tool("Test", {}, output, is_error=True))


def test_the_old_side_of_an_edit_is_short_and_the_new_one_is_not() -> None:
    old, new = "old line\n" * 200, "new line\n" * 200
    for arguments in (
        {"file_path": "a.py", "old_string": old, "new_string": new},
        {"path": "a.py", "edits": [{"oldText": old, "newText": new}]},
        {"patch": "*** Begin Patch\n@@\n" + "-old line\n" * 200 + "+new line\n" * 200},
    ):
        text = shown(*tool("Edit", arguments, "ok"))
        assert text.count("new line") == 200
        assert text.count("old line") < 25


def test_of_removed_lines_the_first_and_the_last_stay() -> None:
    patch = "@@\n" + "".join(f"-old line {number}\n" for number in range(200))
    text = shown(*tool("Edit", {"patch": patch}, "ok"))
    assert "-old line 0\n[… 198 removed lines …]\n-old line 199" in text


def test_a_list_in_a_written_document_is_no_patch() -> None:
    text = shown(*tool("Write", {"path": "a.md", "content": "- one thing\n" * 40}, "ok"))
    assert text.count("- one thing") == 40


def test_reminders_and_catalogues_are_shown_once_and_in_short() -> None:
    reminder = "<system-reminder>" + "Use the todo tool. " * 20 + "</system-reminder>"
    catalogue = CustomRoleMessage(custom_type="harness", content="A skill for this. " * 1_000)
    rules = DeveloperMessage(content="Write release notes. " * 20)
    text = shown(
        *tool("Read", {"path": "a"}, f"one\n{reminder}"),
        *tool("Read", {"path": "b"}, f"two\n{reminder}"),
        catalogue,
        catalogue,
        rules,
        rules,
    )
    assert text.count("Use the todo tool.") == 20
    assert text.count("A skill for this.") < 70
    assert text.count("Write release notes.") == 20


def test_a_short_text_of_a_program_is_shown_each_time() -> None:
    """To name it would be no shorter."""
    again = [CustomRoleMessage(custom_type="note", content="The build has ended.") for _ in range(2)]
    assert condensed(again) == again


def test_what_the_user_and_the_assistant_wrote_stays_whole() -> None:
    messages = [user(LONG), reply(LONG), user(LONG)]
    assert condensed(messages) == messages


def test_what_was_looked_up_in_the_history_is_left_there() -> None:
    assert LOOKED_UP in shown(*tool("history_read", {"id": "x"}, "an old entry"))


def test_json_in_a_string_is_written_out() -> None:
    assert decoded('{"output": "one\\ntwo", "metadata": {"exit_code": 1}}') == (
        "output: one\ntwo\nmetadata: exit_code: 1"
    )
    for text in ("[x] a\\nb", '{"a": 1}', "{" * 50_000 + "\\n", '["\\n"' + ",[" * 50_000):
        assert decoded(text) == text


def test_json_that_nests_deeply_stays_json() -> None:
    assert decoded('{"a": ' * 12 + '"one\\ntwo"' + "}" * 12).endswith('{"a":"one\\ntwo"}}}}')


def test_an_argument_of_several_lines_is_no_json() -> None:
    assert 'new_string="""a\nb"""' in shown(*edit("a.py", "a\nb"))


def test_lines_of_progress_are_as_they_ended() -> None:
    bar = "\r".join(f"[{'=' * n}>{' ' * (9 - n)}] {n}0%" for n in range(10))
    assert without_progress(f"start\n{bar}\nend") == "start\n[=========>] 90%\nend"
    counted = "\n".join(f"Downloaded {n} of 40" for n in range(40))
    assert without_progress(counted) == "Downloaded 0 of 40\n[… 38 lines alike …]\nDownloaded 39 of 40"
    shares = [f"{n * 20} %" for n in range(5)]
    assert without_progress("\n".join(shares)) == "0 %\n[… 3 lines alike …]\n80 %"
    assert without_progress("\n".join(shares[:4])) == "\n".join(shares[:4])
    assert without_progress("a\n\n\n\n\n\nb 1\nb 2\r\n") == "a\n\n\n\n\n\nb 1\nb 2\n"


@pytest.mark.parametrize(
    "line", ["{size} 0", "src/a.py:{size}: assert is_small()", "- {size}", " {size}\t}}"]
)
def test_results_and_places_that_differ_in_their_numbers_are_no_progress(line: str) -> None:
    text = "\n".join(line.format(size=131_000 + n) for n in range(9))
    assert without_progress(text) == text


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    "unit",
    ["a", "a.", "-a\n", "<system-reminder>", "\r", "1\n", "= ", "#1 ", "http://aaaa", "a-1", "@@\n-", "\n"],
)
def test_half_a_megabyte_of_anything_is_condensed_at_once(unit: str) -> None:
    text = unit * (500_000 // len(unit))
    assert shown(
        user(text), *run(text[:200_000], text), *tool("Edit", {"patch": text}, text), *run("make", text)
    )


def work(steps: int) -> list[Message]:
    return [
        message
        for n in range(steps)
        for message in (
            user(f"Do step {n} of docs/plan_{n}.md"),
            *tool("Read", {"file_path": f"docs/part_{n}.md"}, "text"),
            *edit(f"src/part_{n}.py", "x = 1\n" * 20),
            *run("make all", "\n".join([f"step {n}", *JOBS])),
        )
    ]


@pytest.mark.parametrize(
    "of",
    [
        lambda messages: grouped(messages, len),
        lambda messages: unsupported("src/a/b.py abc1234, 57 tests", map(str, messages)),
    ],
    ids=["grouping", "verification"],
)
def test_the_work_for_a_span_grows_with_its_messages(of: Callable[[list[Message]], object]) -> None:
    few, many = (calls_made(of, work(steps)) for steps in (50, 400))
    assert few > 250
    assert many < 8.5 * few


def test_a_block_too_short_for_a_mark_is_read_once_from_each_place_that_repeats_it() -> None:
    short = [chr(0x4E00 + n) for n in range(297)]
    often = [line for n in range(9) for line in (*short, f"and {n}")]
    messages = [*polled("gh run watch 7", *often), *polled("gh run view 7", *short)]
    assert calls_made(condensed, messages) < 40 * len(often)


def calls_made(of: Callable[[list[Message]], object], messages: list[Message]) -> int:
    """How many functions are called, those in C among them."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    of(messages[:25])
    sys.setprofile(count)
    try:
        of(messages)
    finally:
        sys.setprofile(None)
    return calls


def test_what_the_user_answered_stays_whole() -> None:
    rules = [f"rule {'abcdefghij'[n % 10] * (n + 1)}" for n in range(90)]
    asked = [
        *tool("ask", {"question": "Rules?"}, "\n".join(rules), details=ANSWERED),
        *tool("ask", {"question": "Rules?"}, "x", details={**ANSWERED, "answer": "\n".join(rules)}),
        *tool("ask", {"question": "Rules?"}, "Dismissed.", details=ANSWERED),
    ]
    assert "\n".join(rules) in shown(*asked[2:])
    assert rules[0] in shown(*asked)
    assert "as in a later output" not in shown(*asked)
    dismissed = tool("ask", {"question": "And?"}, "\n".join(rules), details=ANSWERED)
    assert "as in a later output" in shown(*asked[:2], *dismissed)
