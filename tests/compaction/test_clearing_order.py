"""Which of the old tool results are cleared first."""

from collections.abc import Collection
from typing import Any

from conftest_service import assistant, tool, user

from coppice.compaction.clearing import plan
from coppice.tokens.measuring import size_of_entry
from coppice.tree.entries import Entry, MessageEntry

LINE = "a line of an output\n"  # 5 tokens by the estimate
EVERYTHING = 10**9


def read(number: int, lines: int) -> list[dict[str, Any]]:
    return tool(f"read{number}", "read", {"path": f"src/f{number}.py"}, LINE * lines)


def ran(number: int, lines: int) -> list[dict[str, Any]]:
    return tool(f"ran{number}", "bash", {"command": f"make target{number}"}, LINE * lines)


def chosen(goal: int, *calls: list[dict[str, Any]], pinned: Collection[str] = ()) -> list[str]:
    """The ids of the results to clear, `read0` for that of the call with this id."""
    values = [user("Go."), *(value for call in calls for value in call), assistant("Done.")]
    entries: list[Entry] = []
    for number, value in enumerate(values):
        name = value["message"].get("toolCallId", f"e{number}")
        parent = entries[-1].id if entries else None
        about = {"id": name, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z"}
        entries.append(MessageEntry.model_validate({**value, **about}))
    results = plan(
        entries,
        [size_of_entry(entry) for entry in entries],
        keep=0,
        goal=goal,
        tokens=lambda size: size.estimate,
        excluded=pinned,
    )
    return [each.entry_id for each in results]


def test_the_largest_goes_first() -> None:
    assert chosen(1_000, read(0, 200), read(1, 400), read(2, 300)) == ["read1"]


def test_what_can_be_read_again_goes_before_a_larger_result_that_cannot() -> None:
    assert chosen(1_000, ran(0, 390), read(1, 300)) == ["read1"]
    assert chosen(1_000, ran(0, 900), read(1, 300)) == ["ran0"]


def test_as_many_go_as_the_goal_needs_and_they_are_named_oldest_first() -> None:
    calls = (read(0, 300), ran(1, 300), read(2, 400))
    assert chosen(3_000, *calls) == ["read0", "read2"]
    assert chosen(EVERYTHING, *calls) == ["read0", "ran1", "read2"]


def test_a_short_result_and_a_pinned_one_stay() -> None:
    assert chosen(EVERYTHING, read(0, 30), read(1, 300), read(2, 300), pinned={"read2"}) == ["read1"]
