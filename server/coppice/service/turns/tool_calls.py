"""Tool calls of a model, run by the client or by the server."""

from collections.abc import Sequence
from typing import Final

from pydantic import ValidationError

from coppice.errors import CoppiceError
from coppice.protocol.history import CallHistoryToolParams
from coppice.protocol.server_requests import INVOKE_TOOL, Ask
from coppice.protocol.tools import InvokeToolParams, InvokeToolResult, Tool
from coppice.service.history.tools import TOOLS as HISTORY_TOOLS
from coppice.service.history.tools import HistoryTools
from coppice.service.notes.note_tools import TOOLS as NOTE_TOOLS
from coppice.service.notes.note_tools import NoteTools
from coppice.tree.messages import NOT_RUN, TextContent, ToolCall, ToolResultMessage, present

_LONGEST_QUOTE: Final = 500  # characters of a tool's error: five lines


class Tools:
    """The tools of one turn: the client's, where it answers `coppice/invokeTool` and `ask` is not None, and
    the server's own. A client's tool comes before one of ours of the same name.

    Notes can be written where the client offers tools: a model that is offered none may accept none.
    """

    def __init__(
        self,
        conversation_id: str,
        tools: Sequence[Tool],
        ask: Ask | None,
        history: HistoryTools | None = None,
        notes: NoteTools | None = None,
    ) -> None:
        self._conversation_id = conversation_id
        self._ask = ask
        self._tools = {tool.name: tool for tool in tools} if ask is not None else {}
        self._history = history
        self._notes = notes
        self._note_tools = self._not_shadowed(NOTE_TOOLS) if notes is not None and self._tools else {}
        self._history_tools: dict[str, Tool] = {}
        self.ended_turn = False
        """Whether the result of a call asked for the end of the turn."""

    @property
    def offered(self) -> list[Tool]:
        """What the model may call now."""
        return [*self._tools.values(), *self._note_tools.values(), *self._history_tools.values()]

    def offer_history(self) -> bool:
        """From now on the model may look up what was compacted; False where that is turned off."""
        if self._history is not None:
            self._history_tools = self._not_shadowed(HISTORY_TOOLS)
        return bool(self._history_tools)

    def _not_shadowed(self, own: Sequence[Tool]) -> dict[str, Tool]:
        return {tool.name: tool for tool in own if tool.name not in self._tools}

    async def result_of(self, call: ToolCall) -> ToolResultMessage:
        """The result of a call for the model. A failure is a result too; nothing is raised."""
        if call.invalid_arguments is not None:
            quote = _clipped(call.invalid_arguments)
            return not_run(call, f"The arguments are no JSON object: {quote}")
        if self._notes is not None and call.name in self._note_tools:
            return await self._notes.result_of(call)
        if self._history is not None and call.name in self._history_tools:
            return await self._looked_up(self._history, call)
        if self._ask is None or call.name not in self._tools:
            names = ", ".join(tool.name for tool in self.offered) or "none"
            return not_run(call, f"There is no such tool. Tools that can be called: {names}.")
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
        self.ended_turn = self.ended_turn or answer.ends_turn
        return ToolResultMessage(
            tool_call_id=call.id,
            tool_name=call.name,
            content=answer.content,
            is_error=answer.is_error,
            **present(details=answer.details, workspace_state=answer.workspace_state),
        )

    async def _looked_up(self, history: HistoryTools, call: ToolCall) -> ToolResultMessage:
        wanted = CallHistoryToolParams(
            conversation_id=self._conversation_id, name=call.name, arguments=call.arguments
        )
        try:
            answer = await history.call(wanted)
        except CoppiceError as error:
            return failed(call, f"The history could not be searched: {error}")
        return ToolResultMessage(
            tool_call_id=call.id, tool_name=call.name, content=[*answer.content], is_error=answer.is_error
        )


def not_run(call: ToolCall, why: str) -> ToolResultMessage:
    """The result of a call that was not carried out, or was broken off; `why` is for the model."""
    return failed(call, why).model_copy(update={"details": NOT_RUN})


def failed(call: ToolCall, why: str) -> ToolResultMessage:
    """The result of a call that went wrong; `why` is for the model."""
    return ToolResultMessage(
        tool_call_id=call.id, tool_name=call.name, content=[TextContent(text=why)], is_error=True
    )


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"
