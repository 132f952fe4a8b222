"""Short ways to write conversations for the tests of facts and summaries."""

from collections.abc import Sequence
from typing import Any

from coppice.compaction.asking.summarizer import SummaryRequest
from coppice.tokens.counting import count_tokens
from coppice.tree.messages import (
    AssistantMessage,
    Message,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)


def user(text: str) -> Message:
    return UserMessage(content=text)


def reply(text: str) -> Message:
    return AssistantMessage(content=[TextContent(text=text)])


def tool(
    name: str, arguments: dict[str, Any], output: str = "", *, is_error: bool = False, details: Any = None
) -> list[Message]:
    """A tool call and its result."""
    call_id = f"call-{name}-{abs(hash((str(arguments), output, is_error)))}"
    return [
        AssistantMessage(content=[ToolCall(id=call_id, name=name, arguments=arguments)]),
        ToolResultMessage(
            tool_call_id=call_id,
            tool_name=name,
            content=[TextContent(text=output)],
            is_error=is_error,
            details=details,
        ),
    ]


def saying(text: str, call: list[Message]) -> list[Message]:
    """`call` in a reply that says something first."""
    asking, *rest = call
    assert isinstance(asking, AssistantMessage)
    return [asking.model_copy(update={"content": [TextContent(text=text), *asking.content]}), *rest]


def run(command: str, output: str = "", *, is_error: bool = False) -> list[Message]:
    return tool("Bash", {"command": command}, output, is_error=is_error)


def edit(path: str, new: str = "x = 1") -> list[Message]:
    return tool("Edit", {"file_path": path, "old_string": "x", "new_string": new}, "ok")


def request(
    history: Sequence[Message],
    *,
    max_tokens: int = 4_000,
    previous: str | None = None,
    turn: Sequence[Message] = (),
    kept_messages: Sequence[Message] = (),
) -> SummaryRequest:
    return SummaryRequest(
        history=history,
        turn_prefix=turn,
        kept_messages=kept_messages,
        previous_summary=previous,
        instructions=None,
        max_tokens=max_tokens,
        count_tokens=count_tokens,
    )
