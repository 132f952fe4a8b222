"""Texts that make rules backtrack: long repetitions of what they look for the beginning of."""

import json
import os
import random
from collections.abc import Collection
from typing import Any, Final

import pytest
from conftest_service import assistant, tool, user
from scripted import GOOD

LENGTH: Final = 250_000
"""Characters."""
UNITS: Final = (
    " ", "\n", "\t", "\r\n", " \n", "\n ", "a", "a ", "a\n", "A", "0", "1,", "1.", ".", ",", ":",
    ";", "-", "--", "- ", "-\n", "_", "*", "**", "* ", "#", "# ", "#\n", "/", "//", "a/", "/a",
    "\\", "\\n", "<", "<a", "<a ", "</", ">", "(", ")", "[", "[a](", "{", '"', "'", "`", "```",
    "```\n", "|", "=", "a=", "a=b ", "@", "a@", "a.", "a-", "a_", "://", "http://", "a:", "error ",
    "Error: ", "not ", "the ", "I ", "you ", "and ", "must ", "do not ", "a1", "f0", "$ ", "&& ",
    "\x1b[", "\x00", "你", "，", "不要", "é", "- a\n", "1. a\n", "a b c. ", "\n\n## a\n", "a\n\n",
    '\\"', '"\\', "\\'", "\\`", "\x1c", "[user]:", "\u0301\u0316",
)  # fmt: skip
"""What a hostile text repeats: what lines, words, numbers, lists, quotes, tags and paths begin with."""


KINDS: Final = ("tool result", "user's text", "model's answer", "call's argument")


def each_text(always: Collection[str], drawn: int) -> pytest.MarkDecorator:
    """Runs a test with the texts of `always`, and in the slow run with the others.

    Where `COPPICE_FAULT_SEED` is set, as in CI, which draws it for each commit, the slow run takes `drawn` of
    them by it.
    """
    others = [unit for unit in UNITS if unit not in always]
    if seed := os.environ.get("COPPICE_FAULT_SEED"):
        others = random.Random(seed).sample(others, drawn)
    slow = [pytest.param(unit, marks=pytest.mark.slow) for unit in others]
    return pytest.mark.parametrize("unit", [*always, *slow])


def text_of(unit: str) -> str:
    """The unit repeated."""
    return unit * (LENGTH // len(unit))


def entries_with(kind: str, text: str) -> list[dict[str, Any]]:
    """What is appended to a conversation, of a kind in `KINDS`."""
    if kind == "user's text":
        return [user(text)]
    if kind == "model's answer":
        return [user("Go on."), assistant(text)]
    argument, output = ("make test", text) if kind == "tool result" else (f"run(cmd, {text}", "done")
    return [user("Go on."), *tool("c1", "bash", {"command": argument}, output)]


def imported_summary(unit: str) -> str:
    """A Pi session whose last entry is a compaction with that text in its summary."""
    stamp = "2026-01-01T00:00:00.000Z"
    entries: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": stamp, "cwd": "/w"},
        {"type": "message", "id": "m1", "parentId": None, "message": user("Build the importer.")["message"]},
        {"type": "message", "id": "m2", "parentId": "m1", "message": assistant("I will.")["message"]},
        {
            "type": "compaction",
            "id": "c1",
            "parentId": "m2",
            "summary": f"{GOOD}\n- {text_of(unit)}",
            "firstKeptEntryId": "m2",
            "tokensBefore": 1000,
        },
    ]
    return "\n".join(json.dumps({"timestamp": stamp, **entry}) for entry in entries)
