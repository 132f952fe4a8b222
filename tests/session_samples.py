"""Session files made for tests: lines of Pi and Claude Code, and trees of random entries."""

import json
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from coppice.formats.reading import open_session
from coppice.formats.session import SessionReader
from coppice.tree.entries import ENTRY, CustomEntry, Entry, MessageEntry
from coppice.tree.messages import text_of

Json = dict[str, Any]
TIME = "2026-03-01T10:00:00.000Z"
HEADER: Json = {"type": "session", "version": 3, "id": "s-1", "timestamp": TIME, "cwd": "/home/me/app"}


def message_record(entry_id: str, parent_id: str | None, text: str = "hello", **more: Any) -> Json:
    """A user message of Pi's version 3."""
    message = {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1772359200000}
    return {
        "type": "message",
        "id": entry_id,
        "parentId": parent_id,
        "timestamp": TIME,
        "message": message,
        **more,
    }


def lines_of(*values: Json) -> list[str]:
    return [json.dumps(value) for value in values]


def read_text(text: str | bytes) -> tuple[SessionReader, list[Entry]]:
    """The reader of a file with this content, and its entries."""
    content = text.decode("utf-8", errors="surrogateescape") if isinstance(text, bytes) else text
    reader = open_session(content)
    return reader, list(reader)


def read_lines(*lines: str) -> tuple[SessionReader, list[Entry]]:
    return read_text("".join(f"{line}\n" for line in lines))


def texts(entries: Iterable[Entry]) -> list[str]:
    """What the entries' messages say; the type of those that say nothing."""
    return [_text(entry) for entry in entries]


def _text(entry: Entry) -> str:
    if isinstance(entry, MessageEntry) and hasattr(entry.message, "content"):
        return text_of(entry.message.content)
    return entry.custom_type if isinstance(entry, CustomEntry) else entry.type


def record(uuid: str, parent: str | None, kind: str, **more: Any) -> Json:
    """A record of a Claude Code transcript."""
    base = {"uuid": uuid, "parentUuid": parent, "isSidechain": False, "type": kind}
    return {**base, "sessionId": "c-1", "cwd": "/home/me/app", "timestamp": TIME, "version": "2.1.0", **more}


def prompt(uuid: str, parent: str | None, text: str, **more: Any) -> Json:
    return record(uuid, parent, "user", message={"role": "user", "content": text}, **more)


def reply(uuid: str, parent: str | None, message_id: str, *blocks: Json, **message: Any) -> Json:
    content = {"id": message_id, "role": "assistant", "model": "claude-x", "content": list(blocks), **message}
    return record(uuid, parent, "assistant", message=content)


def result(uuid: str, parent: str | None, *blocks: Json) -> Json:
    return record(uuid, parent, "user", message={"role": "user", "content": list(blocks)})


def text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def call_block(call_id: str, name: str = "Read", **arguments: Any) -> Json:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result_block(call_id: str, content: Any = "done", **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).map(
    lambda name: f"x-{name}"
)
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(NAMES, JSON_VALUES, max_size=3)
TEXTS = st.builds(lambda text: {"type": "text", "text": text}, WORDS)
IMAGES = st.just({"type": "image", "data": "aGk=", "mimeType": "image/png"})
THOUGHTS = st.builds(lambda text, more: {"type": "thinking", "thinking": text, **more}, WORDS, OBJECTS)
CALLS = st.builds(
    lambda call_id, name, arguments: {
        "type": "toolCall",
        "id": call_id,
        "name": name,
        "arguments": arguments,
    },
    WORDS,
    WORDS,
    OBJECTS,
)
USER_CONTENT = WORDS | st.lists(TEXTS | IMAGES, max_size=3)
MESSAGES = st.one_of(
    st.builds(lambda content, more: {"role": "user", "content": content, **more}, USER_CONTENT, OBJECTS),
    st.builds(
        lambda content, stop, more: {"role": "assistant", "content": content, "stopReason": stop, **more},
        st.lists(TEXTS | THOUGHTS | CALLS, max_size=3),
        st.sampled_from(["stop", "length", "toolUse", "error", "aborted"]),
        st.just({})
        | st.just({"usage": {"input": 3, "output": 4, "cost": {"total": 0.5}}, "api": "a", "model": None}),
    ),
    st.builds(
        lambda call_id, content, failed, details: {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": "read",
            "content": content,
            "isError": failed,
            "details": details,
        },
        WORDS,
        st.lists(TEXTS | IMAGES, max_size=2),
        st.booleans(),
        JSON_VALUES,
    ),
    st.builds(
        lambda command, output, code: {
            "role": "bashExecution",
            "command": command,
            "output": output,
            "exitCode": code,
            "cancelled": False,
            "truncated": False,
        },
        WORDS,
        WORDS,
        st.none() | st.integers(0, 255),
    ),
)
BODIES = st.one_of(
    st.builds(lambda message: {"type": "message", "message": message}, MESSAGES),
    st.builds(
        lambda summary, details, more: {"type": "compaction", "summary": summary, "details": details, **more},
        WORDS,
        JSON_VALUES,
        st.just({}) | st.just({"firstKeptEntryId": "e0", "tokensBefore": 9, "reason": "manual"}),
    ),
    st.builds(lambda text: {"type": "branch_summary", "summary": text, "fromId": "e0"}, WORDS),
    st.builds(lambda data: {"type": "custom", "customType": "x", "data": data}, JSON_VALUES),
    st.builds(
        lambda content, shown: {
            "type": "custom_message",
            "customType": "x",
            "content": content,
            "display": shown,
        },
        USER_CONTENT,
        st.booleans(),
    ),
    st.just({"type": "model_change", "provider": "p", "modelId": "m"}),
    st.just({"type": "thinking_level_change", "thinkingLevel": "high"}),
    st.just({"type": "label", "targetId": "e0", "label": "here"}),
    st.just({"type": "label", "targetId": "e0"}),
    st.builds(lambda name: {"type": "session_info", "name": name}, WORDS),
)
OWN_BODIES = st.one_of(
    st.builds(lambda pinned: {"type": "pin", "targetId": "e0", "pinned": pinned}, st.booleans()),
    st.just(
        {
            "type": "file_activity",
            "changes": [{"path": "a", "kind": "renamed", "from": "b", "source": "editor"}],
        }
    ),
)


@st.composite
def raw_trees(draw: st.DrawFn, bodies: st.SearchStrategy[Json] = BODIES) -> list[Json]:
    """Entries as JSON objects, parents first."""
    drawn = draw(st.lists(st.tuples(bodies, st.integers(-1, 30), OBJECTS), max_size=12))
    return [
        {
            **more,
            **body,
            "id": f"e{number}",
            "parentId": None if parent % (number + 1) == number else f"e{parent % (number + 1)}",
            "timestamp": TIME,
        }
        for number, (body, parent, more) in enumerate(drawn)
    ]


def trees() -> st.SearchStrategy[list[Entry]]:
    """Entries of every type, parents first."""
    return raw_trees(BODIES | OWN_BODIES).map(
        lambda values: [ENTRY.validate_python(value) for value in values]
    )
