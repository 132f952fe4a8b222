"""What providers demand of the messages of a request."""

from collections.abc import Sequence
from typing import Any


def assert_valid_for_anthropic(turns: Sequence[dict[str, Any]]) -> None:
    """Roles alternate from the user's on; the results of a turn's calls come first in the next, in order."""
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * (len(turns) // 2) + ["user"] * (
        len(turns) % 2
    )
    pending: list[str] = []
    for turn in turns:
        answered = [block["tool_use_id"] for block in turn["content"] if block["type"] == "tool_result"]
        assert answered == pending
        first = [block["type"] for block in turn["content"][: len(answered)]]
        assert first == ["tool_result"] * len(answered)
        pending = [block["id"] for block in turn["content"] if block["type"] == "tool_use"]
        assert all(block["text"].strip() for block in turn["content"] if block["type"] == "text")


def assert_valid_for_openai(messages: Sequence[dict[str, Any]]) -> None:
    """The results of a reply's calls follow it, in order."""
    pending: list[str] = []
    for item in messages:
        if item["role"] == "tool":
            assert item["tool_call_id"] == pending.pop(0)
            continue
        assert pending == []
        pending = [made["id"] for made in item.get("tool_calls", [])]
    assert pending == []
