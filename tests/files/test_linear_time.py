"""Hostile file events and command lines take linear time."""

import pytest
from attacks.linear_time import assert_linear
from files.test_two_sides import seen

from coppice.files.ledger import FileLedger
from coppice.files.shell_scanner import scanned
from coppice.files.tools import touches_of
from coppice.tree.entries import Entry
from coppice.tree.messages import ToolCall

NAMES = 250


def fold(entries: list[Entry]) -> None:
    FileLedger(root="/w").add(entries)


def renamed(count: int) -> list[Entry]:
    return [seen("renamed", f"new{number}/", **{"from": f"old{number}"}) for number in range(count)]


@pytest.mark.parametrize("kind", ["deleted", "created"])
def test_changes_after_many_renames_in_one_turn(kind: str) -> None:
    def sized(times: int) -> list[Entry]:
        count = times * NAMES
        return [*renamed(count), *(seen(kind, f"other/{number}") for number in range(count))]

    assert_linear(kind, fold, sized)


@pytest.mark.parametrize("kind", ["deleted", "renamed"])
def test_changes_of_many_folders(kind: str) -> None:
    def sized(times: int) -> list[Entry]:
        count = times * NAMES
        made = [seen("created", f"old{number}/file") for number in range(count)]
        gone = [seen("deleted", f"old{number}") for number in range(count)]
        return [*made, *(gone if kind == "deleted" else renamed(count))]

    assert_linear(kind, fold, sized)


def test_a_command_with_many_here_documents() -> None:
    assert_linear("documents", scanned, lambda times: "apply_patch " + "<<A " * (times * 2_500) + "\nx\nA\n")


def test_of_a_patching_command_only_its_beginning_is_parsed() -> None:
    line = f"apply_patch <<'END'\n*** Begin Patch\n*** Add File: a\n{'+x' * 200_000}\n*** Add File: b\n"
    call = ToolCall(id="c", name="exec_command", arguments={"cmd": line})
    assert [touch.path for touch in touches_of(call, {})] == ["a"]
