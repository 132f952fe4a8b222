"""The editor's own model, asked through `coppice/sample`."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from coppice.models.chat import DEFAULT_WINDOW, ChatRequest, Delta, ModelError, ModelLimits, OnDelta
from coppice.models.providers.answer import (
    LARGEST_ANSWER,
    LONGEST_ID,
    LONGEST_MESSAGE,
    LONGEST_NAME,
    MOST_BLOCKS,
    new_call_id,
)
from coppice.models.providers.deadlines import Deadlines
from coppice.models.providers.keys import redacted
from coppice.protocol.server_requests import OnPart
from coppice.protocol.tools import SampleParams, SamplePiece, SampleResult
from coppice.recovery.overflow import is_overflow, reported_window
from coppice.tree.messages import AssistantMessage, TextContent, ToolCall

Sample = Callable[[SampleParams, OnPart | None], Awaitable[Any]]
"""Sends a `coppice/sample` to the editor and brings its result; raises when it refuses."""

_LONGEST_QUOTE: Final = 300  # characters of an editor's error that are quoted: three lines


class EditorModel:
    """See `coppice.models.chat.ChatModel`.

    When an editor sends no pieces, its whole text is one.
    """

    def __init__(
        self,
        sample: Sample,
        *,
        model: str | None = None,
        context_window: int | None = None,
        max_output_tokens: int | None = None,
        deadlines: Deadlines | None = None,
        overflow_phrases: Sequence[str] = (),
    ) -> None:
        self._sample = sample
        self._model = model
        self._set_window = context_window
        self._set_output = max_output_tokens
        self._deadlines = deadlines or Deadlines()
        self._phrases = tuple(overflow_phrases)
        self._reported_window: int | None = None

    @property
    def name(self) -> str:
        """`editor/` and the model's name, or `default` where none is set."""
        return f"editor/{self._model or 'default'}"

    @property
    def edits_context(self) -> bool:
        """`coppice/sample` has no field for it."""
        return False

    async def limits(self) -> ModelLimits:
        """The window of the settings, unless the editor reported a smaller one with an overflow."""
        window = self._set_window or DEFAULT_WINDOW
        if self._reported_window and self._reported_window < window:
            return ModelLimits(self._reported_window, self._set_output, "server")
        return ModelLimits(window, self._set_output, "settings" if self._set_window else "default")

    async def complete(self, request: ChatRequest, on_delta: OnDelta | None = None) -> AssistantMessage:
        """Ask the editor (`coppice/sample`). Cancelling cancels its request too. Raises ModelError."""
        passed_on = 0

        def on_part(part: Any) -> None:
            nonlocal passed_on
            piece = _piece(part)
            if piece is None or on_delta is None or passed_on + len(piece.text) > LARGEST_ANSWER:
                return
            passed_on += len(piece.text)
            on_delta(piece)

        try:
            async with asyncio.timeout(self._deadlines.total):
                raw = await self._sample(self._params(request), None if on_delta is None else on_part)
        except TimeoutError:
            waited = f"{self._deadlines.total:g} s"
            raise ModelError(
                f"The editor's model did not finish within {waited}. Choose another model.", kind="timeout"
            ) from None
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever way the editor chose to refuse
            raise self._failed(str(error)) from None
        result = self._read(raw)
        if result.text and on_delta is not None and not passed_on:
            on_delta(Delta("text", result.text))
        usage: dict[str, Any] = {} if result.usage is None else {"usage": result.usage}
        calls = _with_own_ids(result.tool_calls or [])
        return AssistantMessage(
            content=[*([TextContent(text=result.text)] if result.text.strip() else []), *calls],
            provider="editor",
            model=(result.model or "")[:LONGEST_NAME] or self._model,
            stop_reason=result.stop_reason or ("toolUse" if calls else "stop"),
            **usage,
        )

    async def close(self) -> None:
        """Nothing is held."""

    def _params(self, request: ChatRequest) -> SampleParams:
        return SampleParams(
            messages=[item.message for item in request.messages],
            system=request.system or None,
            max_tokens=min(request.max_tokens, self._set_output or request.max_tokens),
            purpose=request.purpose,
            model=self._model,
            tools=list(request.tools) or None,
        )

    def _read(self, raw: Any) -> SampleResult:
        try:
            result = SampleResult.model_validate(raw if isinstance(raw, Mapping) else {})
        except ValidationError:
            raise ModelError(
                "The editor's model sent no text. Update the editor's extension, or choose another model.",
                kind="bad-answer",
            ) from None
        if _is_too_large(result):
            raise ModelError("The editor's model sent an answer that is too large.", kind="bad-answer")
        if result.stop_reason in ("error", "aborted"):
            raise ModelError("The editor's model broke off the answer. Try again.", kind="cut-off")
        return result

    def _failed(self, message: str) -> ModelError:
        message = redacted(" ".join(message[:LONGEST_MESSAGE].split()), None)
        quote = f': "{message[:_LONGEST_QUOTE]}".' if message else "."
        if is_overflow(None, None, message, self._phrases):
            self._reported_window = reported_window(message) or self._reported_window
            return ModelError(f"The request is too long for the editor's model{quote}", kind="overflow")
        return ModelError(f"The editor's model failed{quote} Try again, or set another model.", kind="server")


def _is_too_large(result: SampleResult) -> bool:
    """Whether the parts together, or one of the ids and names, exceed what a provider's answer may have."""
    calls = result.tool_calls or []
    return (
        len(result.model_dump_json()) > LARGEST_ANSWER
        or len(calls) > MOST_BLOCKS
        or any(len(call.id) > LONGEST_ID or len(call.name) > LONGEST_NAME for call in calls)
    )


def _with_own_ids(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """`calls`; one with the id of an earlier one gets a new one, as its result could be the other's."""
    own: dict[str, ToolCall] = {}
    for call in calls:
        call_id = new_call_id() if call.id in own else call.id
        own[call_id] = call.model_copy(update={"id": call_id})
    return [*own.values()]


def _piece(part: Any) -> Delta | None:
    """A part of the editor's answer; None for what is none."""
    try:
        piece = SamplePiece.model_validate(part)
    except ValidationError:
        return None
    return Delta(piece.kind, piece.text) if piece.text else None
