"""Session files for the command line's tests."""

import json
from pathlib import Path
from typing import Any

HEADER = {
    "type": "session",
    "version": 3,
    "id": "0198c0de-0000-7000-8000-000000000001",
    "timestamp": "2026-03-01T09:00:00.000Z",
    "cwd": "/home/dev/shop",
}


def entry(number: int, parent: int | None, message: dict[str, Any]) -> dict[str, Any]:
    """An entry `e<number>` below `e<parent>`, a minute later for each number."""
    return {
        "type": "message",
        "id": f"e{number}",
        "parentId": None if parent is None else f"e{parent}",
        "timestamp": f"2026-03-01T{9 + number // 60:02}:{number % 60:02}:00.000Z",
        "message": message,
    }


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop"}


def messages(turns: int) -> list[dict[str, Any]]:
    """Turns in which files are edited, each of some 600 tokens."""
    made: list[dict[str, Any]] = []
    for turn in range(turns):
        path = f"src/part_{turn}.py"
        call = {"type": "toolCall", "id": f"call{turn}", "name": "write", "arguments": {"path": path}}
        words = " ".join(f"line{turn}x{number}" for number in range(120))
        made += [
            user(f"Please write part {turn} of the shop; never use globals in it."),
            {"role": "assistant", "content": [call], "stopReason": "toolUse"},
            {
                "role": "toolResult",
                "toolCallId": f"call{turn}",
                "toolName": "write",
                "content": [{"type": "text", "text": f"wrote {path}\n{words}"}],
                "isError": False,
            },
            assistant(f"Part {turn} stands in {path}."),
        ]
    return made


def write_session(file: Path, messages: list[dict[str, Any]]) -> Path:
    """A Pi session of one path, `e0` at its root."""
    entries = [
        entry(number, number - 1 if number else None, message) for number, message in enumerate(messages)
    ]
    lines = [json.dumps(line, ensure_ascii=False) for line in (HEADER, *entries)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def long_session(folder: Path, turns: int = 60) -> Path:
    return write_session(folder / "long.jsonl", messages(turns))
