"""Codex rollouts: tool calls, their outputs, and the files they change."""

import json
from typing import Any

import pytest
from codex_samples import call, event, item, messages, output, read, words
from session_samples import Json

from coppice.files.ledger import FileLedger
from coppice.tree.entries import FileActivityEntry
from coppice.tree.messages import (
    ANSWERED,
    ImageContent,
    ToolCall,
    text_of,
)


@pytest.mark.parametrize(
    ("recorded", "text", "is_error"),
    [
        ('{"output":"ok\\n","metadata":{"exit_code":0,"duration_seconds":0.1}}', "ok\n", False),
        ('{"output":"gone","metadata":{"exit_code":127}}', "Exit code: 127\ngone", True),
        ('{"output": 5}', '{"output": 5}', False),
        (
            "Exit code: 1\nWall time: 2 seconds\nOutput:\nE",
            "Exit code: 1\nWall time: 2 seconds\nOutput:\nE",
            True,
        ),
        (
            "Chunk ID: 1\nWall time: 1 seconds\nProcess exited with code 3\nOutput:\nE",
            "Chunk ID: 1\nWall time: 1 seconds\nProcess exited with code 3\nOutput:\nE",
            True,
        ),
        ("the log says: Exit code: 1", "the log says: Exit code: 1", False),
        ({"content": "no", "success": False}, "no", True),
        ([{"type": "input_text", "text": "Script failed\nOutput:\n"}], "Script failed\nOutput:\n", True),
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], "a\nb", False),
    ],
)
def test_an_output_is_unwrapped_and_its_exit_code_decides(recorded: Any, text: str, is_error: bool) -> None:  # noqa: FBT001 - a table
    _, entries = read(call("c", "shell", command=["bash", "-lc", "make"]), output("c", recorded))
    result = messages(entries)[1]
    assert (text_of(result.content), result.is_error) == (text, is_error)


def test_an_image_in_an_output_is_an_image() -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,aGk="}
    _, entries = read(call("c", "view_image", path="a.png"), output("c", [image]))
    assert messages(entries)[1].content == [ImageContent(data="aGk=", mime_type="image/png")]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (call("c", "shell", command=["bash", "-lc", "ls -l"]), {"command": "ls -l"}),
        (call("c", "shell", command=["git", "commit", "-m", "a b"]), {"command": "git commit -m 'a b'"}),
        (
            item("local_shell_call", call_id="c", action={"type": "exec", "command": ["pwd"]}),
            {"command": "pwd"},
        ),
        (
            item("custom_tool_call", call_id="c", name="apply_patch", input="*** Begin"),
            {"input": "*** Begin"},
        ),
    ],
)
def test_the_arguments_of_a_call_are_values(record: Json, expected: Json) -> None:
    _, entries = read(record, output("c", "done"))
    assert messages(entries)[0].tool_calls[0].arguments == expected


def test_arguments_that_are_no_object_are_kept_as_written() -> None:
    _, entries = read(item("function_call", call_id="c", name="shell", arguments='{"command": '))
    assert messages(entries)[0].tool_calls == [
        ToolCall(id="c", name="shell", arguments={}, invalid_arguments='{"command": ')
    ]


def script(call_id: str, source: str) -> Json:
    return item("custom_tool_call", call_id=call_id, name="exec", input=source)


def test_the_calls_of_a_script_are_calls_and_its_output_is_the_last_ones() -> None:
    _, entries = read(
        script(
            "c", "const r = await Promise.all([tools.exec_command({cmd:'make'}), tools.web__run({q:`x`})]);"
        ),
        item("custom_tool_call_output", call_id="c", output="both"),
    )
    reply, first, second = messages(entries)
    assert [(block.id, block.name, block.arguments) for block in reply.content] == [
        ("c", "exec_command", {"cmd": "make"}),
        ("c#1", "web__run", {"q": "x"}),
    ]
    assert (first.tool_call_id, second.tool_call_id, text_of(second.content)) == ("c", "c#1", "both")


def test_a_script_whose_calls_are_computed_stays_a_script() -> None:
    source = "ids.map(id => tools.exec_command({cmd: `kill ${id}`}))"
    _, entries = read(script("c", source))
    assert messages(entries)[0].tool_calls[0].arguments == {"input": source}


def assigned(first: str, following: str, count: int) -> str:
    lines = [following.format(n=number + 1, before=f"a{number}") for number in range(count)]
    return "\n".join([f"const a0 = {first};", *lines, f"await tools.exec_command({{cmd: a{count}}});"])


@pytest.mark.parametrize(
    "source",
    [
        assigned("'0123456789'", "const a{n} = {before}+{before};", 60),
        assigned("['0']", "const a{n} = [{before},{before}];", 60),
        assigned("['0']", "const a{n} = [{before}];", 3000),
        assigned("['0']", "const a{n} = [{before}];", 150) + "//" + "x" * 100_000,
        f"tools.exec_command({{cmd: [{'``,' * 10_000}].join('{'x' * 10_000}')}})",
    ],
    ids=["doubled-strings", "doubled-arrays", "long-chain", "deep-chain", "join"],
)
def test_a_script_whose_values_outgrow_it_stays_a_script(source: str) -> None:
    _, entries = read(script("c", source))
    assert messages(entries)[0].tool_calls[0].arguments == {"input": source}


def test_a_variable_can_be_used_in_several_calls() -> None:
    source = "const d = '/home/me/app'; tools.a({d}); tools.b({d: d + '/src'}); tools.c([d, d].join(':'))"
    _, entries = read(script("c", source))
    assert [call.arguments for call in messages(entries)[0].tool_calls] == [
        {"d": "/home/me/app"},
        {"d": "/home/me/app/src"},
        {"input": "/home/me/app:/home/me/app"},
    ]


PATCH = "*** Begin Patch\n*** Add File: new.py\n+x\n*** Update File: old.py\n*** End Patch\n"
CHANGES = {"/home/me/app/old.py": {"type": "update", "unified_diff": "", "move_path": None}}


@pytest.mark.parametrize(
    ("record", "modified"),
    [
        (item("custom_tool_call", call_id="c", name="apply_patch", input=PATCH), ["new.py", "old.py"]),
        (script("c", f"await tools.apply_patch({json.dumps(PATCH)})"), ["new.py", "old.py"]),
        (
            call("c", "shell", command=["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}EOF"]),
            ["new.py", "old.py"],
        ),
        (script("c", "await tools.apply_patch(lines.join('\\n'))"), ["old.py"]),
    ],
)
def test_a_patch_counts_once_however_it_was_applied(record: Json, modified: list[str]) -> None:
    call_id = "exec-1" if "lines" in str(record) else "c"
    _, entries = read(
        record,
        event("patch_apply_end", call_id=call_id, success=True, changes=CHANGES),
        output("c", "Success"),
    )
    ledger = FileLedger(root="/home/me/app").add(entries)
    assert ledger.modified_files == modified
    assert {history.writes for history in ledger.histories.values()} == {1}


def test_a_patch_that_a_shell_refused_changed_nothing() -> None:
    _, entries = read(
        call("c", "exec_command", cmd=f"apply_patch <<'EOF'\n{PATCH}EOF"),
        output("c", "apply_patch verification failed: Failed to find expected lines"),
    )
    assert messages(entries)[1].is_error
    assert not FileLedger(root="/home/me/app").add(entries).histories


def test_the_files_of_an_item_are_those_of_its_patch() -> None:
    item_ = {"type": "FileChange", "id": "exec-1", "changes": CHANGES, "status": "completed"}
    _, entries = read(
        script("c", "await tools.apply_patch(lines.join('\\n'))"),
        event("item_completed", item=item_),
        output("c", "Script completed"),
    )
    assert FileLedger(root="/home/me/app").add(entries).modified_files == ["old.py"]


def test_code_in_a_patch_is_no_script() -> None:
    patch = "*** Begin Patch\n*** Add File: new.rs\n+    .extend(tools.clone());\n*** End Patch\n"
    _, entries = read(
        item("custom_tool_call", call_id="c", name="apply_patch", input=patch),
        output("c", "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess."),
    )
    assert FileLedger(root="/home/me/app").add(entries).modified_files == ["new.rs"]


FAILED = {"type": "FileChange", "id": "c", "changes": CHANGES, "status": "failed"}


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (event("patch_apply_end", call_id="c", success=False, changes=CHANGES), "could not find context"),
        (event("item_completed", item=FAILED), "could not find context"),
        (event("token_count"), "unsupported custom tool call: apply_patch"),
        (event("token_count"), "apply_patch verification failed: Failed to find expected lines"),
    ],
)
def test_a_patch_that_failed_changed_nothing(record: Json, said: str) -> None:
    _, entries = read(
        item("custom_tool_call", call_id="c", name="apply_patch", input=PATCH), record, output("c", said)
    )
    assert messages(entries)[1].is_error
    assert not FileLedger(root="/home/me/app").add(entries).histories


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"type": "add", "content": "x"}, "created"),
        ({"delete": {}}, "deleted"),
        ({"update": {"move_path": "/home/me/app/b.py"}}, "renamed"),
    ],
)
def test_the_changes_of_a_patch_are_read_in_both_notations(change: Json, kind: str) -> None:
    _, entries = read(
        words("user", "go"),
        event("patch_apply_end", call_id="x", success=True, changes={"/home/me/app/a.py": change}),
    )
    [activity] = [entry for entry in entries if isinstance(entry, FileActivityEntry)]
    assert [item.kind for item in activity.changes] == [kind]


def test_a_search_for_tools_is_a_call_whose_result_names_them() -> None:
    arguments = {"query": "search the history", "limit": 5}
    tools = [{"type": "namespace", "name": "mcp__coppice", "tools": [{"name": "x", "description": "long"}]}]
    reader, entries = read(
        item("tool_search_call", call_id="c", status="completed", arguments=arguments),
        item("tool_search_output", call_id="c", tools=tools),
        item("tool_search_call", call_id="d", arguments=None),
        item("tool_search_output", call_id="d", tools=None),
    )
    searched, named, _, nothing = messages(entries)
    assert searched.content[0].name == "tool_search"
    assert searched.content[0].arguments == arguments
    assert [part.text for part in named.content] == ["mcp__coppice"]
    assert (nothing.tool_call_id, nothing.is_error) == ("d", False)
    assert reader.warnings == []


ASKED: Json = {"questions": [{"id": "b", "question": "Which?"}, {"id": "a", "question": "Push?"}]}


@pytest.mark.parametrize(
    ("output_text", "answer"),
    [
        (
            {"answers": {"a": {"answers": ["No", "user_note: never"]}, "b": {"answers": ["c"]}}},
            "c\nNo, user_note: never",
        ),
        ({"answers": {"b": {"answers": ["Which?", "5432"]}, "a": {"answers": ["No"]}}}, "Which?, 5432\nNo"),
        ({"answers": {"a": {"answers": ["Yes"]}}}, "(no answer)\nYes"),
        ({"answers": {"a": {"answers": [" "]}, "b": {"answers": ["Yes"]}}}, "Yes\n(no answer)"),
        ({"answers": {"a": {"answers": ["Yes"]}, "b": {"answers": []}}}, "(no answer)\nYes"),
        ({"answers": {"a": {"answers": []}, "b": {"answers": [""]}}}, None),
        ({"answers": {"b": {"answers": ["Tabs\nYes\x85No"]}}}, "Tabs\n  Yes\n  No\n(no answer)"),
        ({"answers": {"b": {"answers": ["Tabs"]}, "a": {"answers": ["\u2028 No"]}}}, "Tabs\nNo"),
        ({"answers": {"other": {"answers": ["Push."]}, "a": {"answers": [1, None]}}}, "(no answer)\n1"),
        ({"answers": {"a": ["Push."]}, "b": {"answers": ["Push."]}, "note": "Push."}, None),
        ('{"answers": {"a": {"answers": ["No", ' + "[" * 900 + "]" * 900 + "]}}}", "(no answer)\nNo"),
        ({"answers": {}}, None),
        ("No.", None),
    ],
)
def test_an_answer_is_in_the_order_of_the_questions(output_text: object, answer: str | None) -> None:
    text = output_text if isinstance(output_text, str) else json.dumps(output_text)
    _, entries = read(call("c", "request_user_input", **ASKED), output("c", text))
    assert messages(entries)[1].details == (ANSWERED if answer is None else {**ANSWERED, "answer": answer})


def test_an_answer_to_one_of_two_questions_with_one_id_is_marked() -> None:
    asked = {"questions": [*ASKED["questions"], {"id": "a", "question": "Delete?"}]}
    text = json.dumps({"answers": {"a": {"answers": ["Yes"]}, "b": {"answers": ["c"]}}})
    _, entries = read(call("c", "request_user_input", **asked), output("c", text))
    assert messages(entries)[1].details == {
        **ANSWERED,
        "answer": "c\nYes (to one of 2 questions)\n(no answer)",
    }


@pytest.mark.parametrize("asks_first", [True, False])
def test_a_call_with_the_id_of_a_question_is_not_answered(asks_first: bool) -> None:  # noqa: FBT001 - a table
    calls = [call("c", "request_user_input", **ASKED), call("c", "shell", command="x")]
    text = json.dumps({"answers": {"a": {"answers": ["Push."]}}})
    _, entries = read(*(calls if asks_first else reversed(calls)), output("c", text), output("c", text))
    assert [each.details for each in messages(entries)[1:]] == [None, None]
