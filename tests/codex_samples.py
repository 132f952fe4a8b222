"""Records of Codex rollouts, made for tests."""

import json
from typing import Any

from session_samples import Json, read_lines

from coppice.formats.session import SessionReader
from coppice.tree.entries import Entry, MessageEntry

META: Json = {
    "id": "0199-a",
    "timestamp": "2026-01-02T10:00:00.000Z",
    "cwd": "/home/me/app",
    "cli_version": "0.144.0",
}


def row(kind: str, seconds: int = 0, **payload: Any) -> Json:
    return {"timestamp": f"2026-01-02T10:00:{seconds:02}.000Z", "type": kind, "payload": payload}


def item(kind: str, **payload: Any) -> Json:
    return row("response_item", type=kind, **payload)


def event(kind: str, **payload: Any) -> Json:
    return row("event_msg", type=kind, **payload)


def words(role: str, *parts: str) -> Json:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text} for text in parts])


def call(call_id: str, name: str, **arguments: Any) -> Json:
    return item("function_call", call_id=call_id, name=name, arguments=json.dumps(arguments))


def output(call_id: str, text: Any) -> Json:
    return item("function_call_output", call_id=call_id, output=text)


def read(*records: Json) -> tuple[SessionReader, list[Entry]]:
    return read_lines(*(json.dumps(record) for record in (row("session_meta", **META), *records)))


def messages(entries: list[Entry]) -> list[Any]:
    return [entry.message for entry in entries if isinstance(entry, MessageEntry)]
