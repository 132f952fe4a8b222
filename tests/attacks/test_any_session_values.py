"""A session file whose properties have values of any kind is read, or refused with a reason."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from codex_samples import META, call, event, item, output, row, words
from session_samples import (
    HEADER,
    Json,
    call_block,
    message_record,
    prompt,
    record,
    reply,
    result,
    result_block,
    text_block,
)

from coppice.errors import ImportFailedError
from coppice.formats.reading import open_session
from coppice.formats.registry import AUTO, IMPORT_NAMES, format_named
from coppice.tree.nesting import MAX_DEPTH

TIME: Final = HEADER["timestamp"]
USAGE: Final = {"input_tokens": 3, "output_tokens": 2}
PLACE: Final = {"parentId": "1", "timestamp": TIME}

PI: Final[list[Json]] = [
    HEADER,
    message_record("1", None),
    {"type": "compaction", "id": "2", **PLACE, "summary": "s", "firstKeptEntryId": "1", "tokensBefore": 5},
    {"type": "custom", "id": "3", **PLACE, "customType": "coppice.pin", "data": {"targetId": "1"}},
    {"type": "session_info", "id": "4", **PLACE, "name": "n"},
]
PI_1: Final[list[Json]] = [
    {"type": "session", "id": "s", "timestamp": TIME, "cwd": "/w"},
    {"type": "message", "timestamp": TIME, "message": {"role": "hookMessage", "content": "x"}},
    {"type": "compaction", "timestamp": TIME, "summary": "s", "firstKeptEntryIndex": 1, "tokensBefore": 1},
]
COPPICE: Final[list[Json]] = [
    {"type": "coppice", "version": 1, "id": "s", "name": "n", "cwd": "/w", "createdAt": TIME, "leafId": "1"},
    *PI[1:],
]
CLAUDE_CODE: Final[list[Json]] = [
    prompt("u1", None, "hi"),
    reply("a1", "u1", "m1", text_block("ok"), call_block("c1", file="a.py"), usage=USAGE),
    result("r1", "a1", result_block("c1", [text_block("x")], is_error=False)),
    record("b1", "r1", "system", subtype="compact_boundary", compactMetadata={"preTokens": 100}),
    record("s1", "b1", "user", isCompactSummary=True, message={"role": "user", "content": "sum"}),
    {"type": "summary", "summary": "Title", "leafUuid": "s1"},
]
CODEX: Final[list[Json]] = [
    row("session_meta", **{**META, "git": {"branch": "b"}}),
    row("turn_context", model="m", effort="high"),
    event("user_message", message="do"),
    words("user", "do"),
    item("reasoning", summary=[{"text": "think"}], content=[]),
    call("k1", "shell", command=["bash", "-lc", "ls"]),
    output("k1", [{"type": "input_text", "text": "Exit code: 1\nOutput:\nno"}]),
    event("token_count", info={"last_token_usage": {**USAGE, "cached_input_tokens": 1, "total_tokens": 6}}),
    item("custom_tool_call", call_id="k2", name="exec", input='await tools.exec_command({cmd: "ls"})'),
    output("k2", {"content": "x", "success": False}),
    event("patch_apply_end", call_id="k3", success=True, changes={"/w/a": {"type": "update"}}),
    item("local_shell_call", call_id="k4", action={"command": ["ls"]}),
    event("thread_rolled_back", num_turns=1),
    row("compacted", message="sum", replacement_history=[{"role": "user", "content": "kept"}]),
]
CLAUDE_HARNESS: Final[list[Json]] = [
    prompt("u1", None, "hi"),
    record("x1", "u1", "attachment", attachment={"type": "queued_command", "prompt": [text_block("more")]}),
    record(
        "x2",
        "x1",
        "attachment",
        attachment={"type": "instructions", "files": [{"path": "a", "content": "b"}]},
    ),
    record("u2", "x2", "user", message={"role": "user", "content": "go"}, origin={"kind": "human"}),
]
COPILOT: Final[list[Json]] = [
    {"type": kind, "id": f"e{number}", "parentId": None, "timestamp": TIME, "data": data}
    for number, (kind, data) in enumerate(
        [
            ("session.start", {"sessionId": "s", "startTime": TIME, "context": {"cwd": "/w", "branch": "b"}}),
            ("user.message", {"content": "do"}),
            ("session.compaction_start", {}),
            ("session.usage_record", {"usage": {"inputTokens": 3, "outputTokens": 2}}),
            (
                "assistant.message",
                {
                    "content": "ok",
                    "reasoningText": "hm",
                    "model": "m",
                    "toolRequests": [{"toolCallId": "c", "name": "n", "arguments": {"a": 1}}],
                },
            ),
            (
                "tool.execution_complete",
                {
                    "toolCallId": "c",
                    "success": True,
                    "result": {"content": "x"},
                    "shellExecution": {"exitCode": 0},
                },
            ),
            (
                "session.compaction_complete",
                {"success": True, "summaryContent": "sum", "preCompactionTokens": 5, "trigger": "manual"},
            ),
        ]
    )
]
GEMINI_CALL: Final[Json] = {
    "id": "c",
    "name": "n",
    "args": {},
    "status": "success",
    "result": [{"functionResponse": {"id": "c", "name": "n", "response": {"output": "x"}}}],
}
GEMINI: Final[list[Json]] = [
    {"sessionId": "s", "projectHash": "h", "startTime": TIME},
    {"$set": {"messages": [{"id": "x", "type": "user", "content": [{"text": "context"}]}]}},
    {"id": "u", "type": "user", "timestamp": TIME, "content": [{"text": "do"}]},
    {
        "id": "a",
        "type": "gemini",
        "content": "ok",
        "thoughts": [{"subject": "s", "description": "d"}],
        "tokens": {"input": 3, "output": 2, "cached": 1, "total": 5},
        "toolCalls": [GEMINI_CALL],
    },
    {"$set": {"messages": [{"id": "z", "type": "user", "content": [{"text": "<state_snapshot>sum"}]}]}},
]
LISTED: Final[list[Json]] = [
    {"type": "messages", "id": "s-1", "cwd": "/work"},
    {"role": "user", "content": "Plant a tree."},
    {
        "role": "assistant",
        "content": [{"type": "toolCall", "id": "c-1", "name": "read", "arguments": {"path": "tree.txt"}}],
    },
    {"role": "toolResult", "toolCallId": "c-1", "toolName": "read", "content": "an oak", "isError": False},
    {"role": "compactionSummary", "summary": "A tree was planted."},
]
QWEN: Final[list[Json]] = [
    {"uuid": "u", "parentUuid": None, "sessionId": "s", "cwd": "/w", "timestamp": TIME, **each}
    for each in (
        {"type": "user", "provenance": "real_user", "message": {"parts": [{"text": "do"}]}},
        {
            "type": "assistant",
            "uuid": "a",
            "parentUuid": "u",
            "message": {
                "parts": [
                    {"text": "hm", "thought": True},
                    {"functionCall": {"id": "c", "name": "n", "args": {}}},
                ]
            },
            "usageMetadata": {"promptTokenCount": 3},
        },
        {
            "type": "tool_result",
            "uuid": "r",
            "parentUuid": "a",
            "message": {
                "parts": [{"functionResponse": {"id": "c", "name": "n", "response": {"output": "x"}}}]
            },
            "toolCallResult": {"status": "success"},
        },
        {
            "type": "system",
            "uuid": "z",
            "parentUuid": "r",
            "subtype": "chat_compression",
            "systemPayload": {
                "info": {"originalTokenCount": 5},
                "compressedHistory": [{"parts": [{"text": "sum"}]}],
            },
        },
    )
]


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


VALUES: Final = [None, True, -1, 10**30, 1e308, "", "\0", [], {}, [{}], nested(3 * MAX_DEPTH)]


SESSIONS: Final[dict[str, list[Json]]] = {
    "pi": PI,
    "pi 1": PI_1,
    "coppice": COPPICE,
    "claude-code": CLAUDE_CODE,
    "claude-code harness": CLAUDE_HARNESS,
    "codex": CODEX,
    "copilot": COPILOT,
    "gemini": GEMINI,
    "qwen": QWEN,
    "messages": LISTED,
}
"""Sessions of each format, which begin with its name."""


def places(value: Any) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to each value within `value`."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (key,)
        yield from ((key, *rest) for rest in places(each))


def replaced(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    """A copy of `value` with `new` at a place."""
    if not place:
        return new
    copy = value.copy()
    copy[place[0]] = replaced(value[place[0]], place[1:], new)
    return copy


@pytest.mark.parametrize("format_", [AUTO, None], ids=["recognized", "named"])
@pytest.mark.parametrize("name", SESSIONS)
def test_any_value_of_any_property_is_read_or_refused(name: str, format_: str | None) -> None:
    lines, named = SESSIONS[name], name.split(maxsplit=1)[0]
    written = [json.dumps(line) for line in lines]
    assert len(list(open_session("\n".join(written), format_ or named))) > 1
    for number, line in enumerate(lines):
        for place in places(line):
            for value in VALUES:
                changed = json.dumps(replaced(line, place, value))
                check("\n".join([*written[:number], changed, *written[number + 1 :]]), format_ or named)


def test_there_is_a_session_of_each_format() -> None:
    assert {name.split()[0] for name in SESSIONS} == set(IMPORT_NAMES[1:])


def check(text: str, format_: str) -> None:
    try:
        reader = open_session(text, format_)
        entries = list(reader)
    except ImportFailedError:
        return
    assert all(isinstance(warning, str) for warning in reader.warnings)
    exported = format_named("coppice").write(reader.header, entries, leaf_id=reader.leaf_id)
    assert list(open_session("".join(exported), "coppice")) == entries
