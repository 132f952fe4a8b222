"""The ledger: facts about the work, from tool calls of every shape."""

import json
from typing import Any

import pytest
from talk import edit, reply, run, tool, user

from coppice.compaction.ledger.bounds import MOST, bounded
from coppice.compaction.ledger.builder import LedgerBuilder, ledger_of
from coppice.protocol.ledger import WorkLedger
from coppice.tree.messages import BashExecutionMessage, DeveloperMessage, Message

FAILED = "E   AssertionError: 1 != 2\n1 failed, 3 passed"
ISSUE = """○ shop-7 · Stream the importer   [● P2 · OPEN]
Owner: A. Person · Type: task

DESCRIPTION
Read the rows one at a time, so that a large file fits into memory.

Technical specs:
- In `Importer`:
  - Add `read_rows/1` with a cursor.
- The old entry point must stay.

ACCEPTANCE CRITERIA
- No file is read twice.

CHILDREN
  ↳ ○ shop-7.1: Write the cursor ● P2
"""


def problems(messages: list[Message]) -> list[tuple[str, bool]]:
    return [(problem.what, problem.open) for problem in ledger_of(messages).problems]


def test_a_failed_command_is_a_problem_with_its_telling_line() -> None:
    (problem,) = ledger_of(run("cd app && pytest -q 2>&1 | tail -5", FAILED)).problems
    assert (problem.what, problem.error, problem.open) == (
        "pytest -q",
        "E AssertionError: 1 != 2 1 failed, 3 passed",
        True,
    )


def test_what_was_written_about_a_problem_and_what_fixed_it_go_with_it() -> None:
    (problem,) = ledger_of(
        [
            *run("make test", FAILED),
            reply("The fixture is missing a port. Let me add it."),
            *tool(
                "Edit",
                {"file_path": "conf.py", "old_string": "a = 1", "new_string": "a = 1\nport = 5433"},
                "ok",
            ),
            *run("make test", "4 passed"),
        ]
    ).problems
    assert problem.explanation == "The fixture is missing a port."
    assert (problem.fix, problem.code, problem.open) == (["conf.py"], "port = 5433", False)


@pytest.mark.parametrize(
    ("first", "later", "is_open"),
    [
        ("pytest tests/a.py", run("pytest tests/a.py", "3 passed"), False),
        ("pytest tests/a.py", run("pytest", "9 passed"), False),
        ("mix test", run("mix compile", ""), True),
        ("npm run check", run("npm run build", "ok"), True),
        ("npm run check", run("cd x; npm run check 2>&1", "ok"), False),
        ("pytest", [reply("All good now, it works.")], True),
    ],
)
def test_only_a_later_success_of_the_same_kind_closes_a_problem(
    first: str, later: list[Message], *, is_open: bool
) -> None:
    assert problems([*run(first, FAILED), *later])[0][1] is is_open


def test_looking_at_text_with_the_word_error_is_no_problem() -> None:
    assert problems([*run("grep -rn error src", "src/a.py: error: 3 failed"), *run("cat log", FAILED)]) == []


def test_a_failed_edit_is_open_until_the_file_is_changed() -> None:
    failed = tool("Edit", {"file_path": "a.py"}, "String not found", is_error=True)
    assert problems(failed) == [("Edit a.py", True)]
    assert problems([*failed, *edit("a.py")]) == []


def test_what_the_user_refused_is_no_problem_and_keeps_the_reason() -> None:
    refused = "The user doesn't want to proceed with this tool use. The user said: use a plain rebase"
    ledger = ledger_of(run("git reset --hard origin/main", refused, is_error=True))
    assert ledger.problems == []
    (request,) = ledger.requests
    assert (request.kind, request.about, request.text) == (
        "refusal",
        "git reset --hard origin/main",
        "use a plain rebase",
    )


def test_a_command_that_the_user_ran_counts() -> None:
    assert problems([BashExecutionMessage(command="make lint", output="boom", exit_code=2)]) == [
        ("make lint", True)
    ]


def test_a_check_is_stale_after_a_change() -> None:
    runs = run("make test", "14 tests, 0 failures")
    (check,) = ledger_of(runs).checks
    assert (check.command, check.passed, check.result, check.stale) == (
        "make test",
        True,
        "14 tests, 0 failures",
        False,
    )
    assert ledger_of([*runs, *edit("a.py")]).checks[0].stale
    assert not ledger_of([*runs, *edit("a.py"), *runs]).checks[0].stale


def test_a_commit_takes_the_files_that_were_added() -> None:
    text = "feat: stream\n\nRows come one by one.\n\nCo-Authored-By: X <x@y>"
    message = f"git add a.py && git commit -m \"$(cat <<'EOF'\n{text}\nEOF\n)\""
    ledger = ledger_of(
        [*edit("a.py"), *edit("b.py"), *run(message, "[main 1234567] feat: stream\n 1 file changed")]
    )
    (commit,) = ledger.commits
    assert (commit.hash, commit.subject, commit.body, commit.files, commit.branch, commit.pushed) == (
        "1234567",
        "feat: stream",
        "Rows come one by one.",
        ["a.py"],
        "main",
        False,
    )
    assert [file.path for file in ledger.uncommitted] == ["b.py"]


def test_a_push_a_rebase_and_a_clean_tree_are_read() -> None:
    ledger = ledger_of(
        [
            *edit("a.py"),
            *run('git commit -am "Add a"', "[main 1234567] Add a"),
            *run("git push", "ok"),
            *run("git log --oneline -3", "fedcba9 Add a\n0000aaa Begin"),
            *edit("b.py"),
            *run("git status", "On branch topic\nnothing to commit, working tree clean"),
        ]
    )
    assert (ledger.commits[0].hash, ledger.commits[0].pushed, ledger.branch) == ("fedcba9", True, "topic")
    assert ledger.uncommitted == []


def test_a_changed_file_names_its_new_definitions() -> None:
    (file,) = ledger_of([*edit("a.py", "def load_rows(): ..."), *edit("a.py", "class Row: ...")]).uncommitted
    assert (file.edits, file.names) == (2, ["load_rows", "Row"])


@pytest.mark.parametrize(
    "path",
    [".git/config", "node_modules/x/index.js", "target/debug/a.d", "a/__pycache__/b.py"],
)
def test_what_is_no_work_is_not_changed_work(path: str) -> None:
    assert ledger_of(edit(path)).uncommitted == []


@pytest.mark.parametrize(
    ("name", "arguments", "output"),
    [
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** End Patch"},
            "ok",
        ),
        (
            "exec",
            {"input": 'const p = "*** Begin Patch\\n*** Update File: src/a.py\\n+y\\n*** End Patch"; f(p)'},
            "{}",
        ),
        ("some_editor", {"uri": "src/a.py", "newText": "y"}, "ok"),
        ("mcp__x__patch", {"diff": "--- a/src/a.py\n+++ b/src/a.py\n@@\n+y"}, "ok"),
    ],
)
def test_a_change_is_known_by_its_shape(name: str, arguments: dict[str, Any], output: str) -> None:
    assert [file.path for file in ledger_of(tool(name, arguments, output)).uncommitted] == ["src/a.py"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("shell", {"command": ["bash", "-lc", "make test"]}),
        ("exec_command", {"cmd": "make test"}),
        ("exec", {"input": 'const r = await tools.exec_command({cmd:"make test",workdir:"/x"}); text(r)'}),
    ],
)
def test_a_command_is_known_by_its_shape(name: str, arguments: dict[str, Any]) -> None:
    output = json.dumps({"output": "2 passed", "metadata": {"exit_code": 0}})
    (check,) = ledger_of(tool(name, arguments, output)).checks
    assert (check.command, check.result) == ("make test", "2 passed")


def test_an_exit_code_in_an_output_decides() -> None:
    assert problems(
        tool("exec_command", {"cmd": "make all"}, "Process exited with code 2\nOutput:\nboom")
    ) == [("make all", True)]


def test_the_status_of_a_response_in_a_log_is_no_exit_code() -> None:
    log = "[error] Unexpected response {status: 401, body: nothing}, using the fallback\n"
    ledger = ledger_of(run("mix test", f"{log}14 tests, 0 failures"))
    assert ledger.problems == []
    assert [(check.result, check.passed) for check in ledger.checks] == [("14 tests, 0 failures", True)]
    assert problems(run("make all", "make: the child ended with status 127")) == [("make all", True)]


def test_a_todo_list_gives_the_tasks_and_the_next_one_replaces_it() -> None:
    def todo(*states: str) -> list[Message]:
        todos = [{"content": f"Step {n}", "status": state} for n, state in enumerate(states)]
        return tool("TodoWrite", {"todos": todos}, "ok")

    ledger = ledger_of([*todo("pending"), *todo("completed", "in_progress", "pending")])
    assert [(task.title, task.state) for task in ledger.tasks] == [
        ("Step 0", "done"),
        ("Step 1", "in_progress"),
        ("Step 2", "open"),
    ]


def test_a_tracker_is_known_by_the_shape_of_its_commands() -> None:
    ledger = ledger_of(
        [
            *run("tracker show shop-7", ISSUE),
            *run("tracker update shop-7 --status in_progress", "✓ Updated shop-7"),
            *run("tracker close shop-7.1", "✓ Closed shop-7.1"),
        ]
    )
    assert [(task.id, task.title, task.state) for task in ledger.tasks] == [
        ("shop-7", "Stream the importer", "in_progress"),
        ("shop-7.1", "Write the cursor", "done"),
    ]


@pytest.mark.parametrize("badges", ["[ready] [closed]", "[enhancement, new] [closed]", "[closed, was open]"])
def test_a_task_that_a_tracker_calls_closed_is_done_whatever_else_it_is_called(badges: str) -> None:
    (task,) = ledger_of(run("tracker show shop-7", f"shop-7: Stream the importer {badges}")).tasks
    assert task.state == "done"


def test_a_list_of_titles_that_a_tool_is_given_makes_no_task() -> None:
    slides = {"slides": [{"title": "Introduction"}], "topic": "Trees"}
    assert ledger_of(tool("MakeDeck", slides, "Created deck-7")).tasks == []


def test_a_list_of_names_is_no_line_of_a_brief_and_a_few_files_are() -> None:
    many = ", ".join(f"`src/part_{n}.py`" for n in range(6))
    files = f"OUTPUT FILES\n- Sources: {many}\n- `src/importer.py` and `test/importer_test.py`\n"
    issue = ISSUE.replace("CHILDREN", f"{files}\nCHILDREN")
    (brief,) = ledger_of([user("Implement shop-7"), *run("tracker show shop-7", issue)]).briefs
    assert brief.lines[-1] == "Output files: `src/importer.py` and `test/importer_test.py`"
    assert not any("part_3" in line for line in brief.lines)


def test_a_brief_keeps_what_it_demands_with_what_it_belongs_to() -> None:
    (brief,) = ledger_of([user("Implement shop-7"), *run("tracker show shop-7", ISSUE)]).briefs
    assert brief.title.startswith("shop-7 · Stream the importer")
    assert brief.lines == [
        "Description: Read the rows one at a time, so that a large file fits into memory.",
        "Technical specs: In `Importer`: Add `read_rows/1` with a cursor.",
        "Technical specs: The old entry point must stay.",
        "Acceptance criteria: No file is read twice.",
    ]


def test_what_a_plan_ticks_off_is_no_demand_of_it() -> None:
    steps = "- [x] Write the cursor first\n- [ ] Write the reader after it"
    text = f"# Plan\n\n## Goal\n{'Read the rows one at a time. ' * 8}\n\n## Verification\n{steps}"
    (brief,) = ledger_of([user("Implement plan.md"), *tool("Read", {"file_path": "plan.md"}, text)]).briefs
    assert brief.lines[-1] == "Verification: Write the reader after it"
    assert not any("cursor" in line for line in brief.lines)


def test_a_file_that_nobody_asked_for_is_no_brief() -> None:
    text = "# Plan\n\n## Goal\n" + "Do it all. " * 30 + "\n\n## Scope\n- everything"
    read = tool("Read", {"file_path": "docs/plan.md"}, text)
    assert ledger_of([user("Fix the parser"), *read]).briefs == []
    assert len(ledger_of([user("Implement docs/plan.md"), *read]).briefs) == 1


def test_background_work_is_open_until_it_reports() -> None:
    started = run("make test", "Command running in background with ID: bd0afab. Output is written to x")
    ledger = ledger_of(started)
    assert [(job.id, job.command, job.state) for job in ledger.jobs] == [("bd0afab", "make test", "running")]
    assert ledger.checks == []
    waited = tool("TaskOutput", {"task_id": "bd0afab"}, "<exit_code>0</exit_code>\n43 tests, 0 failures")
    ledger = ledger_of([*started, *waited])
    assert ledger.jobs[0].state == "finished"
    assert ledger.checks[0].result == "43 tests, 0 failures"


def test_plans_and_answers_of_the_user_are_kept() -> None:
    plan = tool("ExitPlanMode", {"plan": "# Stream it\n\n1. Write the cursor first, then the reader."}, "ok")
    question = tool("AskUser", {"questions": [{"question": "Which port?"}]}, "5433")
    kinds = [(each.kind, each.about, each.text) for each in ledger_of([*plan, *question]).requests]
    assert kinds == [("approval", "Stream it", ""), ("answer", "Which port?", "5433")]


def test_a_question_that_no_user_was_asked_has_no_answer_of_theirs() -> None:
    cards = {"cards": [{"question": "What may be deployed?"}], "question": " "}
    assert ledger_of(tool("MakeCards", cards, "Everything may be deployed.")).requests == []


def test_a_request_that_was_taken_back_says_so() -> None:
    ledger = ledger_of([user("Add a cache to the importer"), user("never mind, no cache")])
    assert ledger.requests[0].withdrawn_by == "never mind, no cache"


def test_reasons_and_findings_are_statements_and_narration_is_not() -> None:
    texts = [
        "Let me look at the tests now.",
        "The importer reads twice because `open_rows` is not closed.",
        "Now I'll run it.",
    ]
    found = [each.text for each in ledger_of([reply(text) for text in texts]).statements]
    assert found == ["The importer reads twice because `open_rows` is not closed."]


def test_a_published_comment_is_a_statement() -> None:
    command = 'forge comment 12 --body "Retrying cannot help here because the data itself is damaged."'
    (statement,) = ledger_of(run(command, "ok")).statements
    assert statement.kind == "published"
    assert statement.text == "Retrying cannot help here because the data itself is damaged."


def test_rules_of_a_developer_message_are_marked_with_their_source() -> None:
    (rule,) = ledger_of([DeveloperMessage(content="Never push to main.\nThanks for the help.")]).rules
    assert (rule.text, rule.source) == ("Never push to main.", "developer")


def test_it_continues_from_what_a_compaction_stored() -> None:
    whole: list[Message] = [
        user("Build it. Never use eval."),
        *edit("a.py"),
        *run("make test", FAILED),
        reply("It fails because the port is taken."),
        *edit("b.py"),
        *run("make test", "2 passed"),
    ]
    builder = LedgerBuilder()
    for message in whole:
        builder = (
            LedgerBuilder.from_details({"ledger": builder.details()}) if message.role == "user" else builder
        )
        builder.add_message(message, "")
    assert builder.ledger.model_dump() == ledger_of(whole).model_dump()
    assert LedgerBuilder.from_details({"ledger": {"requests": 3}}).ledger == WorkLedger()


def test_fifty_rounds_lose_no_request_rule_or_commit_and_stay_bounded() -> None:
    details: dict[str, Any] = {}
    for number in range(50):
        builder = LedgerBuilder.from_details(details)
        builder.add_messages(
            [
                user(f"Add part {number}. Never touch legacy_{number}."),
                *edit(f"src/part_{number}.py"),
                *run("make test", f"{number} passed"),
                *run('git commit -am "Add part"', f"[main {number:07x}] Add part {number}"),
                reply(f"Part {number} keeps its own lock because reader_{number} would block."),
            ]
        )
        details = {"ledger": builder.details()}
    ledger = WorkLedger.model_validate(details["ledger"])
    assert [rule.text for rule in ledger.rules] == [f"Never touch legacy_{n}." for n in range(50)]
    assert len(ledger.requests) == 50
    assert len(ledger.commits) + ledger.folded["commits"] == 50
    assert ledger.commits[-1].hash == "0000031"
    assert ledger.uncommitted == []
    assert len(json.dumps(details)) < 60_000


def test_what_is_open_outlasts_what_is_settled() -> None:
    builder = LedgerBuilder()
    builder.add_messages(run("make deploy", "boom", is_error=True))
    for number in range(MOST["problems"] + 20):
        builder.add_messages(run(f"tool_{number} test", FAILED))
        builder.add_messages(run(f"tool_{number} test", "1 passed"))
    kept = bounded(builder.ledger)
    assert len(kept.problems) == MOST["problems"]
    assert kept.problems[0].what == "make deploy"
    assert kept.folded["problems"] == 21
