"""The real transcripts, compared with their files."""

import json
from pathlib import Path
from typing import Any

import pytest
from shared_data import shared_data

from coppice.formats.claude_code import Reader as ClaudeCodeReader
from coppice.formats.reading import open_session
from coppice.tree.entries import CompactionEntry, Entry, MessageEntry
from coppice.tree.messages import AssistantMessage, ToolResultMessage, text_of


@pytest.fixture(params=["claude-code-session-1.jsonl", "claude-code-session-2.jsonl"])
def transcript(request: pytest.FixtureRequest) -> Path:
    return shared_data() / str(request.param)


def path_to_leaf(entries: list[Entry], leaf_id: str | None) -> list[Entry]:
    by_id = {entry.id: entry for entry in entries}
    path: list[Entry] = []
    while leaf_id is not None:
        path.append(by_id[leaf_id])
        leaf_id = by_id[leaf_id].parent_id
    return path[::-1]


def recorded_words(path: Path) -> list[str]:
    """Every text, thought, call and result of the file, in its order."""
    words: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        message = json.loads(line).get("message")
        if message is not None:
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            words += [_words(block) for block in blocks]
    return words


def queued_words(path: Path) -> list[str]:
    """What the user typed during a turn, which has no record of its own in these files."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    texts = [each.get("content", "") for each in records if each.get("operation") == "enqueue"]
    return [text for text in texts if not text.startswith("<task-notification>")]


def _words(block: dict[str, Any]) -> str:
    match block["type"]:
        case "tool_use":
            return f"{block['id']} {block['name']} {json.dumps(block['input'])}"
        case "tool_result":
            content = block.get("content") or ""
            text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
            return f"{block['tool_use_id']} {text}"
        case kind:
            return str(block[kind])


def imported_words(path: list[Entry]) -> list[str]:
    words: list[str] = []
    for entry in path:
        match entry:
            case CompactionEntry():
                words.append(entry.summary)
            case MessageEntry(message=AssistantMessage() as message):
                words += [_words(_recorded(block.model_dump(by_alias=True))) for block in message.content]
            case MessageEntry(message=ToolResultMessage() as message):
                words.append(f"{message.tool_call_id} {text_of(message.content)}")
            case MessageEntry():
                words.append(text_of(entry.message.content))  # type: ignore[union-attr]  # user messages are left
    return words


def _recorded(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "toolCall":
        return {"type": "tool_use", "id": block["id"], "name": block["name"], "input": block["arguments"]}
    return block


def test_the_path_holds_every_message(transcript: Path) -> None:
    reader = open_session(transcript)
    entries = list(reader)
    path = path_to_leaf(entries, reader.leaf_id)
    assert [entry.id for entry in path] == [entry.id for entry in entries]
    assert sorted(imported_words(path)) == sorted(recorded_words(transcript) + queued_words(transcript))
    assert reader.warnings == []


def test_results_are_between_their_calls_and_the_next_message(transcript: Path) -> None:
    waiting: set[str] = set()
    answered = 0
    for entry in open_session(transcript):
        message = entry.message if isinstance(entry, MessageEntry) else None
        if isinstance(message, ToolResultMessage):
            assert message.tool_call_id in waiting
            assert message.tool_name != "unknown"
            waiting.discard(message.tool_call_id)
            answered += 1
            continue
        assert not waiting
        if isinstance(message, AssistantMessage):
            waiting = {call.id for call in message.tool_calls}
    assert answered >= 150


def test_messages_are_in_the_order_of_the_file(transcript: Path) -> None:
    records = [json.loads(line) for line in transcript.read_text(encoding="utf-8").splitlines()]
    place = {record["uuid"]: number for number, record in enumerate(records) if "uuid" in record}
    places = [place[entry.id] for entry in open_session(transcript) if entry.id in place]
    assert places == sorted(places)


def test_the_recorded_compaction_is_one_entry(transcript: Path) -> None:
    entries = list(open_session(transcript))
    (position,) = (n for n, entry in enumerate(entries) if isinstance(entry, CompactionEntry))
    compaction = entries[position]
    assert isinstance(compaction, CompactionEntry)
    assert compaction.parent_id == entries[position - 1].id
    assert entries[position + 1].parent_id == compaction.id
    assert compaction.reason == "threshold"
    assert compaction.tokens_before is not None
    assert compaction.tokens_before > 150_000
    assert compaction.summary.startswith("This session is being continued")


def test_records_outside_the_conversation_are_counted(transcript: Path) -> None:
    reader = open_session(transcript)
    assert isinstance(reader, ClaudeCodeReader)
    assert reader.skipped["progress"] > 1000
    assert set(reader.skipped) == {"progress", "file-history-snapshot", "queue-operation", "system"}
