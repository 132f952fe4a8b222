"""Hostile file events and command lines take linear time."""

import pytest
from attacks.linear_time import assert_linear
from files.test_two_sides import seen

from coppice.files.ledger import FileLedger
from coppice.tree.entries import Entry

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
