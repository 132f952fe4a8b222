"""Recorded sessions: the files stated as changed are those of the agent's own records, as often as there, and
each call has its result.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from shared_data import shared_data

from coppice.files.ledger import FileLedger
from coppice.files.paths import normalize_path
from coppice.formats.reading import open_session
from coppice.tree.entries import Entry, MessageEntry
from coppice.tree.messages import AssistantMessage, ToolCall, ToolResultMessage

UNANSWERED = {"pi-session.jsonl": 6}
"""Calls without a result in the file."""
NAMED_TWICE = {"codex-hk.jsonl": {"src/step/types.rs"}}
"""A patch that names a file twice writes to it twice."""
SESSIONS = (
    "claude-code-session-1.jsonl",
    "claude-code-session-2.jsonl",
    "claude-entire-a.jsonl",
    "codex-hk.jsonl",
    "codex-mise-chain.jsonl",
    "pi-session.jsonl",
)


def _of_claude_code(records: list[dict[str, Any]]) -> Iterator[set[str]]:
    """Claude Code records the patch of each edit that it made."""
    for record in records:
        made = record.get("toolUseResult")
        if isinstance(made, dict) and made.get("structuredPatch") is not None:
            yield {made["filePath"]}


def _of_codex(records: list[dict[str, Any]]) -> Iterator[set[str]]:
    """Codex records the files of each patch that it applied."""
    for record in records:
        event = record.get("payload", {})
        if event.get("type") == "patch_apply_end" and event["success"]:
            moved = {change["move_path"] for change in event["changes"].values() if change.get("move_path")}
            yield {*event["changes"], *moved}


def _of_pi(records: list[dict[str, Any]]) -> Iterator[set[str]]:
    """Pi records nothing but calls and results: those of its two tools that succeeded."""
    called: dict[str, str] = {}
    for record in records:
        message = record.get("message", {})
        if message.get("role") == "assistant":
            calls = [part for part in message["content"] if part["type"] == "toolCall"]
            called |= {
                call["id"]: call["arguments"]["path"] for call in calls if call["name"] in ("edit", "write")
            }
        elif message.get("toolCallId") in called and not message["isError"]:
            yield {called[message["toolCallId"]]}


OWN_ACCOUNTS = {"claude-code": _of_claude_code, "codex": _of_codex, "pi": _of_pi}


def _read(name: str) -> tuple[str, str | None, list[Entry], list[dict[str, Any]]]:
    path: Path = shared_data() / name
    reader = open_session(path)
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return reader.format, reader.header.cwd, [*reader], records


@pytest.mark.parametrize("name", SESSIONS)
def test_the_changed_files_are_those_of_the_patches(name: str) -> None:
    format_, folder, entries, records = _read(name)
    ledger = FileLedger(root=folder).add(entries)
    stated = {path: history.writes for path, history in ledger.histories.items() if history.writes}
    made = Counter(
        path
        for paths in OWN_ACCOUNTS[format_](records)
        for path in {normalize_path(each, folder) for each in paths}
    )
    assert len(made) > 10
    assert stated.keys() == made.keys()
    differing = {path: (stated[path], made[path]) for path in made if stated[path] != made[path]}
    assert set(differing) <= NAMED_TWICE.get(name, set()), differing


@pytest.mark.parametrize("name", SESSIONS)
def test_each_call_has_its_result_and_each_result_its_call(name: str) -> None:
    _, _, entries, _ = _read(name)
    messages = [entry.message for entry in entries if isinstance(entry, MessageEntry)]
    calls = Counter(
        part.id
        for message in messages
        if isinstance(message, AssistantMessage)
        for part in message.content
        if isinstance(part, ToolCall)
    )
    results = Counter(message.tool_call_id for message in messages if isinstance(message, ToolResultMessage))
    assert set(calls.values()) == set(results.values()) == {1}
    assert not results.keys() - calls.keys()
    assert len(calls.keys() - results.keys()) == UNANSWERED.get(name, 0)
