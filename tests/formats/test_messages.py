"""Messages one a line, as adapters give them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from coppice.errors import ImportFailedError
from coppice.formats.reading import MAX_ARRAY_BYTES, open_session
from coppice.tree.entries import CompactionEntry, MessageEntry
from coppice.tree.messages import AssistantMessage, ToolResultMessage, UserMessage

HEADER = {"type": "messages", "id": "s-1", "cwd": "/work"}


def text_of_lines(*values: Any) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def test_messages_become_a_path() -> None:
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "ls"}}
    session = open_session(
        text_of_lines(
            HEADER,
            {"role": "user", "content": "List."},
            {"role": "assistant", "content": [call]},
            {"role": "toolResult", "toolCallId": "c", "toolName": "bash", "content": "a", "isError": False},
            {"role": "assistant", "content": "Listed."},
        )
    )
    entries = list(session)
    assert session.header.cwd == "/work"
    assert [type(entry.message) for entry in entries if isinstance(entry, MessageEntry)] == [
        UserMessage,
        AssistantMessage,
        ToolResultMessage,
        AssistantMessage,
    ]
    assert [entry.parent_id for entry in entries] == [None, *(entry.id for entry in entries[:-1])]
    assert session.leaf_id == entries[-1].id
    assert [entry.id for entry in session] == [entry.id for entry in entries]


def test_a_summary_stands_for_what_is_before_it() -> None:
    summary = {"role": "compactionSummary", "summary": "It was listed."}
    (_, compaction) = open_session(text_of_lines({"role": "user", "content": "List."}, summary))
    assert isinstance(compaction, CompactionEntry)
    assert compaction.summary == "It was listed."


@pytest.mark.parametrize("before", [" \n", "\ufeff"])
def test_an_array_of_messages_is_read_as_lines_of_them(before: str) -> None:
    messages = [{"role": "user", "content": f"{n} ä"} for n in range(3)]
    of_lines = list(open_session(text_of_lines(HEADER, *messages)))
    assert list(open_session(f"{before}{json.dumps([HEADER, *messages], indent=2)}\n")) == of_lines


@pytest.mark.parametrize("text", ["[", "[]", "[1, 2]", "[" * 100_000, f"[{'9' * 5000}]", '[{"role": "user"'])
def test_what_only_begins_as_an_array_is_refused(text: str) -> None:
    with pytest.raises(ImportFailedError, match="no session that Coppice knows"):
        open_session(text)


def test_an_array_that_can_be_read_and_not_written_is_refused() -> None:
    for depth in range(900, 1000):
        with pytest.raises(ImportFailedError, match="no session that Coppice knows"):
            open_session(f"{'[' * depth}{']' * depth}")


def test_an_array_of_any_size_is_not_parsed_in_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither as an array nor as a line, whose limit is higher."""
    parsed: list[int] = []
    monkeypatch.setattr(json, "loads", lambda text, **_: parsed.append(len(text)))
    with pytest.raises(ImportFailedError, match=r"at most 8 MiB; .* `jq -c '\.\[\]' FILE`"):
        open_session(f" [{'{},' * (MAX_ARRAY_BYTES // 3)}{{}}]")
    assert not parsed


def test_lines_after_one_that_begins_as_an_array_are_read() -> None:
    (entry,) = open_session(f"[x]\n{text_of_lines({'role': 'user', 'content': 'Go.'})}")
    assert isinstance(entry, MessageEntry)


def test_the_example_of_the_documentation_is_understood() -> None:
    page = (Path(__file__).parents[2] / "docs" / "agents" / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```jsonl\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    session = open_session(shown)
    entries = list(session)
    assert session.format == "messages"
    assert (len(entries), session.warnings, session.skipped.total()) == (len(shown.splitlines()) - 1, [], 0)
    assert isinstance(entries[0], CompactionEntry)


def test_a_message_that_is_not_as_expected_is_left_out_with_a_warning() -> None:
    session = open_session(
        text_of_lines({"role": "user", "content": 5}, {"role": "nobody"}, {"role": "user", "content": "Go."})
    )
    (entry,) = session
    assert isinstance(entry, MessageEntry)
    assert entry.message == UserMessage(content="Go.")
    assert "line 1" in session.warnings[0]
    assert session.skipped["nobody"] == 1
