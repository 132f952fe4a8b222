"""The facts, and a summary made of them, cost the same for each message, however many there are.

Calls are counted, not time: a loop over all facts for each new one makes them grow with the square.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest
from documents import parts_of
from talk import edit, reply, request, run, tool, user

from coppice.compaction.facts.ledger import LedgerBuilder, bounded
from coppice.summarizers.offline import summarize_offline
from coppice.tree.messages import Message, ToolResultMessage

SMALL, FACTOR, MOST_GROWTH = 400, 5, 1.5


def calls_of(work: Callable[[], object]) -> int:
    """How many functions `work` calls."""
    count = 0

    def counted(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def conversation(parts: int) -> list[Message]:
    return [
        message
        for n in range(parts // 8)
        for message in (
            user(f"Do part {n} in src/m{n}.py. No new dependencies in vendor_{n}."),
            *edit(f"src/m{n}.py", f"def part_{n}(): ..."),
            *run(
                f"pytest tests/test_{n}.py", f"{n + 1} failed" if n % 3 else "2 passed", is_error=bool(n % 3)
            ),
            *run(f"git add -A && git commit -m 'Part {n}'", f"[main {n:07x}] Part {n}"),
            reply(f"Part {n} is done. It uses part_{n} and keeps buffer_{n}."),
        )
    ]


def removals(count: int) -> list[Message]:
    files = [message for n in range(count) for message in edit(f"src/m{n}.py")]
    return [user("Clean up."), *files, *(m for _ in range(count) for m in run("rm -rf src"))]


def renames(count: int) -> list[Message]:
    return [user("Move."), *(m for n in range(count) for m in run(f"git mv old{n}.py new{n}.py"))]


def worktrees(count: int) -> list[Message]:
    return [user("Try."), *(m for n in range(count) for m in run(f"git worktree add try{n} main"))]


def logs(count: int) -> list[Message]:
    output = "\n".join(f"{n:07x} Subject {n}" for n in range(40))
    return [user("Look."), *(m for _ in range(count) for m in run("git log --oneline", output))]


def jobs(count: int) -> list[Message]:
    started = [
        message
        for n in range(count)
        for message in tool("Bash", {"command": "make"}, f"Command running in background with ID: job{n}")
    ]
    return [
        user("Build."),
        *started,
        *(user(f"<task-notification><task-id>job{n}</task-id>") for n in range(count)),
    ]


def many_paths(count: int) -> list[Message]:
    patch = "*** Begin Patch\n" + "".join(f"*** Add File: src/p{n}.py\n+x\n" for n in range(count))
    return [
        user("Patch."),
        *tool("apply_patch", {"input": patch}, "ok"),
        *run("git status", "On branch main"),
    ]


def unanswered(count: int) -> list[Message]:
    calls = [message for message in run("pytest", "1 failed") if not isinstance(message, ToolResultMessage)]
    return [user("Test."), *(call for _ in range(count) for call in calls)]


def comments(count: int) -> list[Message]:
    text = "Two workers read the rows. One of them waits now."
    arguments = {f"note{n}": "Read rows.py. " for n in range(count // 20)}
    posts = "\n".join(f"gh pr comment {n} --body '{text}'" for n in range(count // 20))
    return [user("Reply."), *tool("Bash", {"command": posts, **arguments}, "ok")]


@pytest.mark.parametrize(
    "shape", [conversation, removals, worktrees, logs, jobs, many_paths, unanswered, comments]
)
def test_the_facts_cost_the_same_for_each_message(shape: Callable[[int], list[Message]]) -> None:
    def built(size: int) -> int:
        messages = shape(size)
        return calls_of(lambda: bounded(LedgerBuilder().add_messages(messages).ledger))

    built(SMALL)  # fills caches
    assert built(FACTOR * SMALL) <= MOST_GROWTH * FACTOR * built(SMALL)


def test_only_so_many_deleted_files_are_followed() -> None:
    def built(size: int) -> int:
        messages = renames(size)
        return calls_of(lambda: LedgerBuilder().add_messages(messages))

    built(600)  # fills caches
    assert built(1800) <= 3 * MOST_GROWTH * built(600)


def test_a_summary_costs_the_same_for_each_message() -> None:
    def written(size: int) -> int:
        asked = replace(request([]), ledger=LedgerBuilder().add_messages(conversation(size)).ledger)
        return calls_of(lambda: (parts_of(asked), summarize_offline(asked)))

    written(SMALL)
    assert written(FACTOR * SMALL) <= MOST_GROWTH * FACTOR * written(SMALL)
