"""Tool calls with their results: what was tried, on what, and whether it worked."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from coppice.files.tools import FileTouch, touches_of
from coppice.tree.messages import (
    AssistantMessage,
    BashExecutionMessage,
    Message,
    ToolCall,
    ToolResultMessage,
    text_of,
)

_COMMAND_NAMES: Final = ("command", "cmd", "script")
_OUTPUT_EDGE: Final = 20_000


class ActionKind(StrEnum):
    """What a tool call does: changes files, runs a command, reads files, or something else."""

    CHANGE = "change"
    COMMAND = "command"
    READ = "read"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Action:
    """One tool call, or one command that the user ran. `index` is its message's place in the conversation.

    `failed` is what the result says of itself; `answered` is false when no result was found.
    """

    index: int
    kind: ActionKind
    tool: str
    arguments: dict[str, Any]
    touches: tuple[FileTouch, ...]
    command: str | None
    output: str
    failed: bool
    answered: bool

    @property
    def paths(self) -> list[str]:
        return [touch.path for touch in self.touches]


def actions_of(messages: Sequence[Message]) -> list[Action]:
    """The actions in `messages`, in order. A call is paired with its result by id, wherever it stands."""
    results = {
        message.tool_call_id: message for message in messages if isinstance(message, ToolResultMessage)
    }
    found = []
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            found += [_of_call(index, call, results.get(call.id)) for call in message.tool_calls]
        elif isinstance(message, BashExecutionMessage):
            found.append(_of_execution(index, message))
    return found


def _of_call(index: int, call: ToolCall, result: ToolResultMessage | None) -> Action:
    touches = tuple(touches_of(call, {}))
    command = None if touches else _command_of(call.arguments)
    if command is not None:
        kind = ActionKind.COMMAND
    elif any(touch.kind != "read" for touch in touches):
        kind = ActionKind.CHANGE
    else:
        kind = ActionKind.READ if touches else ActionKind.OTHER
    return Action(
        index=index,
        kind=kind,
        tool=call.name,
        arguments=call.arguments,
        touches=touches,
        command=command,
        output=edges(text_of(result.content)) if result else "",
        failed=bool(result and result.is_error),
        answered=result is not None,
    )


def _of_execution(index: int, message: BashExecutionMessage) -> Action:
    return Action(
        index=index,
        kind=ActionKind.COMMAND,
        tool="bash",
        arguments={},
        touches=(),
        command=message.command,
        output=edges(message.output),
        failed=bool(message.exit_code) or message.cancelled,
        answered=True,
    )


def _command_of(arguments: dict[str, Any]) -> str | None:
    for name in _COMMAND_NAMES:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return " ".join(value)
    return None


def strings_in(value: object, depth: int = 8) -> Iterable[str]:
    """Every string in a JSON value, keys of objects first; what lies deeper than `depth` is left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and depth:
        for key, item in value.items():
            yield str(key)
            yield from strings_in(item, depth - 1)
    elif isinstance(value, list) and depth:
        for item in value:
            yield from strings_in(item, depth - 1)


def edges(text: str, edge: int = _OUTPUT_EDGE) -> str:
    """Head and tail of a long text, where its subject and its errors stand."""
    return text if len(text) <= 2 * edge else f"{text[:edge]}\n{text[-edge:]}"


_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]{0,16}[A-Za-z]")


def without_escapes(text: str) -> str:
    """`text` without a terminal's colour codes."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text
