"""The editor's own model, asked through `coppice/sample`."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from coppice.models.chat import (
    ChatAnswer,
    ChatRequest,
    Delta,
    ModelError,
    ModelLimits,
    OnDelta,
    Purpose,
    Tool,
)
from coppice.models.providers.answer import LARGEST_ANSWER
from coppice.models.providers.deadlines import Deadlines
from coppice.models.providers.keys import redacted
from coppice.models.providers.model import DEFAULT_WINDOW
from coppice.recovery.overflow import is_overflow, told_window
from coppice.tree.messages import AssistantMessage, Message, StopReason, TextContent, ToolCall, Usage

OnPart = Callable[[Any], None]
"""Hears a part of the editor's answer before the whole of it, as it was sent."""

Sample = Callable[[dict[str, Any], OnPart | None], Awaitable[Any]]
"""Sends the params of `coppice/sample` to the editor and brings its result; raises when it refuses."""

_LONGEST_QUOTE: Final = 300
_MOST_PIECES: Final = 100_000


class _Sampling(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore", strict=True)


class SampleParams(_Sampling):
    """What the editor's own model is asked: messages as the protocol's own, without the ids of entries.

    `maxTokens` bounds the answer. `purpose` lets an editor choose a cheaper model for summaries. `tools` may
    be called in the answer to a turn. Where there is a `partialResultToken`, pieces of the answer may be told
    on it, as `$/progress`, before the whole of it is given.
    """

    messages: list[Message]
    system: str | None = None
    max_tokens: Annotated[int, Field(ge=1)]
    purpose: Purpose
    tools: list[Tool] | None = None
    partial_result_token: int | str | None = None


class SamplePiece(_Sampling):
    """A piece of the answer as it arrives. The result holds the whole text all the same."""

    kind: Literal["text", "thinking"]
    text: str


class SampleResult(_Sampling):
    """The model's answer. A `stopReason` that is absent counts as `stop`, or `toolUse` with `toolCalls`."""

    text: str
    tool_calls: list[ToolCall] | None = None
    model: str | None = None
    usage: Usage | None = None
    stop_reason: StopReason | None = None


class EditorModel:
    """See `coppice.models.chat.ChatModel`.

    An editor that tells no pieces has its whole text told as one.
    """

    def __init__(
        self,
        sample: Sample,
        *,
        model: str | None = None,
        context_window: int | None = None,
        max_output_tokens: int | None = None,
        default_window: int = DEFAULT_WINDOW,
        deadlines: Deadlines | None = None,
        overflow_phrases: Sequence[str] = (),
    ) -> None:
        self._sample = sample
        self._model = model
        self._set_window = context_window
        self._set_output = max_output_tokens
        self._default_window = default_window
        self._deadlines = deadlines or Deadlines()
        self._phrases = tuple(overflow_phrases)
        self._told_window: int | None = None

    @property
    def name(self) -> str:
        return f"editor/{self._model or 'default'}"

    async def limits(self) -> ModelLimits:
        window = self._set_window or self._default_window
        if self._told_window and self._told_window < window:
            return ModelLimits(self._told_window, self._set_output, "server")
        return ModelLimits(window, self._set_output, "settings" if self._set_window else "default")

    async def complete(self, request: ChatRequest, on_delta: OnDelta | None = None) -> ChatAnswer:
        pieces: list[Delta] = []

        def hear(part: Any) -> None:
            piece = _piece(part)
            if piece is not None and on_delta is not None and len(pieces) < _MOST_PIECES:
                pieces.append(piece)
                on_delta(piece)

        try:
            async with asyncio.timeout(self._deadlines.total):
                raw = await self._sample(self._params(request), None if on_delta is None else hear)
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
        if result.text and on_delta is not None and not pieces:
            on_delta(Delta("text", result.text))
        told: dict[str, Any] = {} if result.usage is None else {"usage": result.usage}
        calls = result.tool_calls or []
        message = AssistantMessage(
            content=[*([TextContent(text=result.text)] if result.text.strip() else []), *calls],
            provider="editor",
            model=result.model or self._model,
            stop_reason=result.stop_reason or ("toolUse" if calls else "stop"),
            **told,
        )
        return ChatAnswer(message)

    async def close(self) -> None:
        """Nothing is held."""

    def _params(self, request: ChatRequest) -> dict[str, Any]:
        params = SampleParams(
            messages=[item.message for item in request.messages],
            system=request.system or None,
            max_tokens=min(request.max_tokens, self._set_output or request.max_tokens),
            purpose=request.purpose,
            tools=list(request.tools) or None,
        )
        written = params.model_dump(mode="json", by_alias=True)
        return {key: value for key, value in written.items() if value is not None}

    def _read(self, raw: Any) -> SampleResult:
        try:
            result = SampleResult.model_validate(raw if isinstance(raw, Mapping) else {})
        except ValidationError:
            raise ModelError(
                "The editor's model sent no text. Update the editor's extension, or choose another model.",
                kind="bad-answer",
            ) from None
        if len(result.text) > LARGEST_ANSWER:
            raise ModelError("The editor's model sent an answer that is too large.", kind="bad-answer")
        if result.stop_reason in ("error", "aborted"):
            raise ModelError("The editor's model broke off the answer. Try again.", kind="cut-off")
        return result

    def _failed(self, said: str) -> ModelError:
        said = redacted(" ".join(said.split()), None)
        quote = f': "{said[:_LONGEST_QUOTE]}".' if said else "."
        if is_overflow(None, None, said, self._phrases):
            self._told_window = told_window(said) or self._told_window
            return ModelError(f"The request is too long for the editor's model{quote}", kind="overflow")
        return ModelError(f"The editor's model failed{quote} Try again, or set another model.", kind="server")


def _piece(part: Any) -> Delta | None:
    """What an editor told as a part of its answer; None for what is none."""
    try:
        piece = SamplePiece.model_validate(part)
    except ValidationError:
        return None
    return Delta(piece.kind, piece.text) if piece.text else None
