"""A turn at work: from the user's message to the reply that calls no tool any more."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

from coppice.compaction.span.sizes import fitted_sizes
from coppice.errors import ContextOverflowError, CoppiceError, NothingToContinueError, sentence_of
from coppice.models.chat import ChatRequest, ContextEditing, ModelError, timed_reply
from coppice.protocol.prompt import (
    MessageUpdate,
    PromptParams,
    PromptResult,
    RetryUpdate,
    ToolCallUpdate,
    WaitUpdate,
)
from coppice.protocol.usage import UsageState
from coppice.recovery.overflow import is_silent_overflow
from coppice.service.conversations.trees import Trees
from coppice.service.core.chat_models import ChatModels
from coppice.service.core.context import Context
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.core.jobs import stop_if_cancelled, uninterrupted
from coppice.service.core.progress import JobProgress
from coppice.service.core.workers import run_long, run_read
from coppice.service.history.tools import HISTORY_NOTE
from coppice.service.notes.notes import Notes
from coppice.service.recovery.recovering import Recovering
from coppice.service.recovery.thresholds import NextRequest, Thresholds
from coppice.service.turns.cut_replies import asking_to_go_on, was_cut
from coppice.service.turns.model_requests import (
    PartialReply,
    TurnProgress,
    Waiting,
    cache_key,
    context_editing,
)
from coppice.service.turns.tool_calls import Tools, not_run
from coppice.service.views.files_at_hand import files_at_hand, lacks_files
from coppice.service.window.usage import Counter, context_tokens, overhead_of, usage_state
from coppice.settings import Settings
from coppice.tokens.size import Size
from coppice.tree.messages import (
    AssistantMessage,
    ToolCall,
    ToolResultMessage,
    UserContent,
    UserMessage,
    present,
)
from coppice.tree.view import NO_RESULT

LEAST_ANSWER: Final = 256
"""Tokens that a reply may have however full the window is; the provider refuses when that is too much."""

TurnMessage = UserMessage | AssistantMessage | ToolResultMessage
Ending = Literal["stop", "length", "maxSteps", "tool"]


@dataclass(frozen=True)
class Rooms:
    """What a turn is made of."""

    context: Context
    models: ChatModels
    trees: Trees
    thresholds: Thresholds
    recovering: Recovering
    notes: Notes


class Turn:
    """One turn, within a job. Whenever it stops, the tree is valid."""

    def __init__(
        self, rooms: Rooms, params: PromptParams, settings: Settings, tools: Tools, progress: JobProgress
    ) -> None:
        self._rooms = rooms
        self._params = params
        self._settings = settings
        self._model = rooms.models.of(settings)
        self._tools = tools
        self._progress = TurnProgress(progress)
        self._draft = PartialReply(self._progress)
        self._waiting = Waiting(params.patience)
        self._unanswered: list[ToolCall] = []
        self._goes_on = False
        self._leaf_id: str | None = None
        self._entry_ids: list[str] = []
        self._overhead_tokens = 0
        self._window = 0

    async def run(self) -> PromptResult:
        """Raises ModelError, ContextOverflowError, and StaleLeafError when the conversation left the turn.

        Without a message of the user's it raises NothingToContinueError where the model owes no answer.
        """
        content = self._params.content
        if content is None:
            await run_read(self._refuse_if_answered)
        self._overhead_tokens = await run_read(self._count_overhead)
        await self._make_room(content)
        self._goes_on = content is None
        await self._show_again()
        if content is not None:
            state = present(workspace_state=self._params.workspace_state)
            await self._store(UserMessage(content=content, **state))
        try:
            stop_if_cancelled()
            stop_reason = await self._steps()
        except BaseException as error:
            with contextlib.suppress(CoppiceError):
                await uninterrupted(self._break_off(error))
            raise
        return PromptResult(
            stop_reason=stop_reason,
            entry_ids=self._entry_ids,
            usage=await run_read(self._usage),
            compactions=self._progress.compactions,
        )

    async def _steps(self) -> Ending:
        for step in range(self._params.max_steps):
            if step > 0 and await self._make_room():
                await self._show_again()
            reply = await self._reply()
            if not reply.tool_calls:
                return "length" if reply.stop_reason == "length" else "stop"
            stop_if_cancelled()
            await self._run_tools(reply.tool_calls)
            if self._tools.ended_turn:
                return "tool"
        return "maxSteps"

    async def _make_room(self, prompt: str | list[UserContent] | None = None) -> bool:
        """Compacts where the next request is over the threshold; refuses a prompt that can never fit.

        Whether it compacted.
        """
        self._window = await self._rooms.models.window_of(self._settings)
        request = NextRequest(
            self._params.conversation_id,
            self._window,
            prompt,
            self._overhead_tokens,
            edits_context=self._context_editing() is not None,
        )
        prepared = await self._rooms.thresholds.prepare(request, self._progress)
        stop_if_cancelled()
        if prepared.cannot_fit:
            tokens = prepared.usage.tokens
            raise ContextOverflowError(prepared.message or "", tokens=tokens, contextWindow=self._window)
        return prepared.entry is not None

    async def _reply(self) -> AssistantMessage:
        """The next reply, stored. A request that was too long is made again as often as `recovery` allows."""
        while True:
            self._draft = PartialReply(self._progress)
            self._progress.report("Waiting for the model")
            reply: AssistantMessage | None = None
            counted = 0
            try:
                reply = await timed_reply(self._model, await self._request(), self._draft.add)
            except ModelError as error:
                if error.kind != "overflow":
                    await self._wait(error)
                    continue
            else:
                self._waiting.replied()
                counted = reply.usage.request_tokens if reply.usage is not None else 0
                if not is_silent_overflow(counted, self._window):
                    await self._store(reply)
                    return reply
            await self._recover(reply, counted)

    async def _wait(self, error: ModelError) -> None:
        """Waits for a provider that fails for the moment; raises `error` where that does not help."""
        seconds = self._waiting.next_pause(error)
        if seconds is None:
            raise error
        self._draft = PartialReply(self._progress)
        self._progress.report("Waiting for the provider")
        attempt = self._waiting.attempt + 1
        self._progress.partial(WaitUpdate(attempt=attempt, seconds=ceil(seconds), message=str(error)))
        await self._waiting.pause(seconds)

    def ask_now(self) -> bool:
        """Asks the provider now that the turn waits for; False where it waits for none."""
        return self._waiting.ask_now()

    async def _recover(self, reply: AssistantMessage | None, counted: int) -> None:
        """`reply` answered only a part of what was sent; it is kept where no better one can be had."""
        # The overflow may have revealed another window.
        self._window = await self._rooms.models.window_of(self._settings)
        result, measured = await self._rooms.recovering.recover_in_turn(
            self._params.conversation_id,
            self._window,
            self._progress,
            overhead_tokens=self._overhead_tokens,
            counted=counted,
        )
        stop_if_cancelled()
        if result.strategy is None:
            if reply is not None:
                await self._store(reply)
            raise ContextOverflowError(
                result.message or "", tokens=measured.request_tokens, contextWindow=measured.stated_window
            )
        self._leaf_id = result.leaf_id
        if result.strategy == "compacted":
            await self._show_again()
        self._progress.partial(RetryUpdate(attempt=result.attempt, strategy=result.strategy))

    async def _show_again(self) -> None:
        """Appends the notes, and after a compaction the files that are worked on, that the view lacks."""
        shown = await self._rooms.notes.show(self._params.conversation_id, self._window, after=self._leaf_id)
        self._leaf_id = shown or self._leaf_id
        if self._settings.context.files_at_hand and await run_read(lambda: lacks_files(self._path())):
            await self._show_files()
        stop_if_cancelled()

    async def _show_files(self) -> None:
        entry = await run_long(lambda: files_at_hand(self._path(), self._window, self._overhead_tokens))
        if entry is not None:
            self._leaf_id = await self._rooms.trees.add_entry(
                self._params.conversation_id, entry, after=self._leaf_id, context_window=self._window
            )

    async def _request(self) -> ChatRequest:
        def build() -> ChatRequest:
            path = self._path()
            counter = Counter(path.settings)
            note = self._offer_history(path)
            tokens, source = context_tokens(path, counter)
            room = self._window - tokens - (0 if source == "usage" else self._overhead_tokens)
            reserve = fitted_sizes(path.settings.compaction, self._window).reserve
            return ChatRequest(
                messages=asking_to_go_on(path.view(note), is_cut=self._goes_on and was_cut(path)),
                max_tokens=max(LEAST_ANSWER, min(reserve, room)),
                system=self._system(),
                purpose="turn",
                tools=self._tools.offered,
                caller_waits=self._params.patience > 0,
                cache_key=cache_key(path.conversation.id),
                context_editing=self._context_editing(),
                thinking_level=self._settings.model.thinking_level,
            )

        return await run_read(build)

    async def _run_tools(self, calls: Sequence[ToolCall]) -> None:
        """Runs all `calls` at once and stores each result as it comes."""
        offered = {tool.name for tool in self._tools.offered}
        name = calls[0].name if calls[0].name in offered else "a tool"
        self._progress.report(f"Running {name if len(calls) == 1 else f'{len(calls)} tools'}")
        running = [asyncio.create_task(self._tools.result_of(call)) for call in calls]
        try:
            for done in asyncio.as_completed(running):
                await self._store(await done)
                stop_if_cancelled()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _store(self, message: TurnMessage) -> None:
        """Appends a message after the turn's last one, and reports it."""
        entry_id = await self._rooms.trees.add(
            self._params.conversation_id, message, after=self._leaf_id, context_window=self._window
        )
        self._leaf_id = entry_id
        self._entry_ids.append(entry_id)
        if isinstance(message, AssistantMessage):
            self._goes_on = False
            self._draft = PartialReply(self._progress)
            self._unanswered = list(message.tool_calls)
            for call in message.tool_calls:
                self._progress.partial(
                    ToolCallUpdate(tool_call_id=call.id, name=call.name, arguments=call.arguments)
                )
        elif isinstance(message, ToolResultMessage):
            answered = next(call for call in self._unanswered if call.id == message.tool_call_id)
            self._unanswered.remove(answered)
        self._progress.partial(MessageUpdate(entry_id=entry_id, message=message))

    async def _break_off(self, error: BaseException) -> None:
        """Stores what came of a reply with the reason it ended, and answers its tool calls."""
        for call in tuple(self._unanswered):
            await self._store(not_run(call, NO_RESULT))
        content = self._draft.content()
        provider, _, model = self._model.name.partition("/")
        stopped = AssistantMessage(content=content, provider=provider, model=model, stop_reason="aborted")
        if not isinstance(error, asyncio.CancelledError):
            why = sentence_of(error, "The turn failed.")
            stopped = stopped.model_copy(update={"stop_reason": "error", "error_message": why})
        elif not content:
            return
        await self._store(stopped)

    def _refuse_if_answered(self) -> None:
        view = self._path().view()
        last = view[-1].message if view else None
        if last is None or (isinstance(last, AssistantMessage) and last.stop_reason != "length"):
            raise NothingToContinueError("The last turn was not broken off: send a message instead.")

    def _context_editing(self) -> ContextEditing | None:
        return context_editing(self._settings, self._window) if self._model.edits_context else None

    def _system(self) -> str | None:
        """The system prompt, with the texts of the skills after it."""
        texts = [self._params.system, *(skill.text for skill in self._params.skills or ())]
        return "\n\n".join(text for text in texts if text) or None

    def _usage(self) -> UsageState:
        return usage_state(self._path(), self._window, self._overhead_tokens)

    def _path(self) -> ConversationPath:
        return self._rooms.context.path(self._params.conversation_id)

    def _offer_history(self, path: ConversationPath) -> str:
        """Offers the tools that look up the history, once something was compacted or may be cleared.

        Returns what the system prompt adds about them.
        """
        is_cleared = path.end is not None and path.end.saved != Size()
        if not (path.compaction or is_cleared or self._context_editing()) or not self._tools.offer_history():
            return ""
        self._overhead_tokens = self._overhead(path)
        return HISTORY_NOTE

    def _count_overhead(self) -> int:
        """What the request carries besides the view, in tokens."""
        path = self._path()
        self._offer_history(path)
        return self._overhead(path)

    def _overhead(self, path: ConversationPath) -> int:
        counter = Counter(path.settings)
        return overhead_of(counter, self._params.system, self._tools.offered, self._params.skills).total
