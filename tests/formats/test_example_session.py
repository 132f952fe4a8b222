"""The session that the README's first command compacts."""

from pathlib import Path

from coppice.formats.reading import open_session
from coppice.tokens.measuring import size_of_entry
from coppice.tree.entries import MessageEntry
from coppice.tree.messages import AssistantMessage, ToolResultMessage

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "settings-migration.jsonl"
SYSTEM_PROMPT_TOKENS = 2000


def test_the_example_is_one_path_read_without_a_warning() -> None:
    reader = open_session(EXAMPLE)
    entries = list(reader)
    assert reader.warnings == []
    assert [entry.parent_id for entry in entries] == [None, *(entry.id for entry in entries[:-1])]
    assert reader.leaf_id == entries[-1].id
    assert sum(isinstance(entry, MessageEntry) for entry in entries) == 100


def test_the_example_is_more_than_twice_what_a_compaction_keeps() -> None:
    assert sum(size_of_entry(entry).estimate for entry in open_session(EXAMPLE)) > 2 * 20_000


def test_every_call_of_the_example_is_answered_at_once() -> None:
    waiting: list[str] = []
    for entry in open_session(EXAMPLE):
        message = entry.message if isinstance(entry, MessageEntry) else None
        if isinstance(message, ToolResultMessage):
            assert message.tool_call_id == waiting.pop(0)
        elif message is not None:
            assert not waiting
            waiting = (
                [call.id for call in message.tool_calls] if isinstance(message, AssistantMessage) else []
            )
    assert not waiting


def test_usage_in_the_example_fits_its_size() -> None:
    total = 0
    for entry in open_session(EXAMPLE):
        total += size_of_entry(entry).estimate
        if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
            usage = entry.message.usage
            assert usage is not None
            assert abs(usage.context_tokens - total) < SYSTEM_PROMPT_TOKENS + total * 0.05
