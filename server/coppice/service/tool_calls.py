"""Tool calls of a model, run by the client."""

from collections.abc import Sequence
from typing import Final

from pydantic import ValidationError

from coppice.models.chat import Tool
from coppice.service.messages.tools import InvokeToolParams, InvokeToolResult
from coppice.service.server_requests import INVOKE_TOOL, Ask
from coppice.tree.messages import TextContent, ToolCall, ToolResultMessage

_LONGEST_QUOTE: Final = 500


class Tools:
    """The tools of one turn; none where the client answers no `coppice/invokeTool` and `ask` is None."""

    def __init__(self, conversation_id: str, tools: Sequence[Tool], ask: Ask | None) -> None:
        self._conversation_id = conversation_id
        self._ask = ask
        self._tools = {tool.name: tool for tool in tools} if ask is not None else {}

    @property
    def offered(self) -> list[Tool]:
        return list(self._tools.values())

    async def result_of(self, call: ToolCall) -> ToolResultMessage:
        """What the model is told of its call. Whatever goes wrong is told as well; nothing is raised."""
        if call.invalid_arguments is not None:
            quote = _clipped(call.invalid_arguments)
            return failed(call, f"The arguments are no JSON object: {quote}")
        if self._ask is None or call.name not in self._tools:
            known = ", ".join(self._tools) or "none"
            return failed(call, f"There is no such tool. Tools that can be called: {known}.")
        wanted = InvokeToolParams(
            conversation_id=self._conversation_id,
            tool_call_id=call.id,
            name=call.name,
            arguments=call.arguments,
        )
        try:
            answer = InvokeToolResult.model_validate(await self._ask(INVOKE_TOOL, wanted))
        except ValidationError:
            return failed(call, "The tool gave an answer that cannot be read.")
        except Exception as error:  # noqa: BLE001 - however the client refuses, the turn goes on
            return failed(call, f"The tool failed: {_clipped(str(error))}")
        details = {} if answer.details is None else {"details": answer.details}
        return ToolResultMessage(
            tool_call_id=call.id,
            tool_name=call.name,
            content=answer.content,
            is_error=answer.is_error,
            **details,
        )


def failed(call: ToolCall, why: str) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=call.id, tool_name=call.name, content=[TextContent(text=why)], is_error=True
    )


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"
