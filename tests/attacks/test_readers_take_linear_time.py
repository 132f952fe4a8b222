"""A transcript is read in linear time, whatever it has many of."""

import json
from collections.abc import Callable
from typing import Any, Final

import pytest
from attacks.linear_time import assert_linear

from coppice.formats.reading import open_session

Records = list[dict[str, Any]]

NUMBER: Final = 250
"""Of what there are many, in the smallest transcript."""
STAMP: Final = "2026-01-01T00:00:00.000Z"


def item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": STAMP, "type": "response_item", "payload": payload}


def event(**payload: Any) -> dict[str, Any]:
    return {"timestamp": STAMP, "type": "event_msg", "payload": payload}


def codex_words(text: str, role: str = "user") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def codex_call(number: int) -> dict[str, Any]:
    return item(type="function_call", call_id=f"c{number}", name="run", arguments="{}")


def codex_unanswered_calls(count: int) -> Records:
    patched = {"type": "patch_apply_end", "success": True, "changes": {"a": {"type": "update"}}}
    return [
        item(**codex_words("go")),
        *(codex_call(number) for number in range(count)),
        *(event(**patched, call_id=f"p{number}") for number in range(count)),
    ]


def codex_late_answers(count: int) -> Records:
    answered = (
        item(type="function_call_output", call_id=f"c{number}", output="done") for number in range(count)
    )
    return [item(**codex_words("go")), *map(codex_call, range(count)), *answered]


def codex_kept_messages(count: int) -> Records:
    kept = [codex_words(f"{'ab' * 10} {number}") for number in range(count)]
    payload = {"message": "ab" * 60 * count, "replacement_history": kept}
    return [item(**codex_words("go")), {"timestamp": STAMP, "type": "compacted", "payload": payload}]


def codex_rewinds(count: int) -> Records:
    turns = [item(**codex_words(f"go {number}")) for number in range(count)]
    return [*turns, *(event(type="thread_rolled_back", num_turns=1) for _ in range(count))]


def claude(kind: str, uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": more.pop("message_id", uuid), "stop_reason": None}
    place = {"uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": STAMP}
    return {"type": kind, **place, "message": message, **more}


CLAUDE_TURN: Final = [
    claude("user", "u", None, "go"),
    claude("assistant", "a", "u", [{"type": "text", "text": "I will."}]),
]


def claude_branches(count: int) -> Records:
    return [*CLAUDE_TURN, *(claude("user", f"b{number}", "a", "again") for number in range(count))]


def claude_queued_messages(count: int) -> Records:
    queued = [
        {"type": "queue-operation", "operation": operation, "content": f"q{number}", "sessionId": "s"}
        for number in range(count)
        for operation in ("enqueue", "remove")
    ]
    return [*CLAUDE_TURN, *queued, *claude_branches(count)[2:]]


def claude_calls(count: int) -> Records:
    calls = [
        claude(
            "assistant",
            f"a{number}",
            f"a{number - 1}" if number else "u",
            [{"type": "tool_use", "id": f"c{number}", "name": "Task", "input": {}}],
            message_id="m",
        )
        for number in range(count)
    ]
    results = [
        claude("user", f"r{number}", f"a{number}", [{"type": "tool_result", "tool_use_id": f"c{number}"}])
        for number in reversed(range(count))
    ]
    return [CLAUDE_TURN[0], *calls, *results]


def claude_sub_agents(count: int) -> Records:
    sides = [
        claude("user", f"s{number}", None, "look", isSidechain=True, agentId=f"g{number}")
        for number in range(count)
    ]
    return [*CLAUDE_TURN, *sides, *claude_branches(count)[2:]]


def claude_compactions(count: int) -> Records:
    made: Records = [*CLAUDE_TURN]
    for number in range(count):
        at = {"uuid": f"k{number}", "parentUuid": None, "sessionId": "s", "timestamp": STAMP}
        made += [
            {"type": "system", "subtype": "compact_boundary", "logicalParentUuid": "a", **at},
            claude("user", f"s{number}", f"k{number}", "summary", isCompactSummary=True),
        ]
    return made


def gemini_rewinds(count: int) -> Records:
    words = [
        {"id": f"m{number}", "type": "user", "timestamp": STAMP, "content": [{"text": "go"}]}
        for number in range(count)
    ]
    header = {"sessionId": "s", "projectHash": "p", "startTime": STAMP}
    return [header, *words, *({"$set": {"messages": [each]}} for each in words)]


def copilot_sub_agents(count: int) -> Records:
    def happened(kind: str, number: int, **data: Any) -> dict[str, Any]:
        return {"type": kind, "id": f"{kind}{number}", "parentId": None, "timestamp": STAMP, "data": data}

    return [
        happened("user.message", 0, content="go"),
        *(
            happened("assistant.message", number, content="I look.", agentId=f"g{number}")
            for number in range(count)
        ),
        *(happened("tool.execution_complete", number, toolCallId=f"c{number}") for number in range(count)),
    ]


def qwen_rewinds(count: int) -> Records:
    return [
        {
            "type": "user",
            "sessionId": "s",
            "uuid": f"u{number}",
            "parentUuid": "u0" if number else None,
            "timestamp": STAMP,
            "message": {"role": "user", "parts": [{"text": "go"}]},
        }
        for number in range(count)
    ]


def pi_branches(count: int) -> Records:
    return [
        {"type": "session", "version": 3, "id": "s", "timestamp": STAMP, "cwd": "/w"},
        *(
            {
                "type": "message",
                "id": f"m{number}",
                "parentId": "m0" if number else None,
                "timestamp": STAMP,
                "message": {"role": "user", "content": "go"},
            }
            for number in range(count)
        ),
    ]


def one_id(count: int) -> Records:
    return [{**each, "id": "m0", "number": number} for number, each in enumerate(pi_branches(count))]


SHAPES: Final[tuple[Callable[[int], Records], ...]] = (
    codex_unanswered_calls,
    codex_late_answers,
    codex_kept_messages,
    codex_rewinds,
    claude_branches,
    claude_queued_messages,
    claude_calls,
    claude_sub_agents,
    claude_compactions,
    gemini_rewinds,
    copilot_sub_agents,
    qwen_rewinds,
    pi_branches,
    one_id,
)


def read_through(text: str) -> None:
    for _ in open_session(text):
        pass


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_many_of_it_are_read_in_linear_time(shape: Callable[[int], Records]) -> None:
    name = shape.__name__.partition("_")[0]
    assert open_session(_text(shape(3))).format.partition("-")[0] in (name, "pi")
    assert_linear(shape.__name__, read_through, lambda times: _text(shape(times * NUMBER)))


def _text(records: Records) -> str:
    return "\n".join(map(json.dumps, records))
