"""The answer of a chat completion, streamed or in one piece, with thinking that is put into its text."""

import json
from collections.abc import Callable
from typing import Any, Final

from coppice.json_values import as_count, as_object, as_text, at, objects
from coppice.models.providers.answer import LONGEST_NAME, AnswerBuilder
from coppice.models.providers.answer_fault import AnswerFaultError
from coppice.models.providers.dialect import AnswerReader, Ending
from coppice.models.providers.error_response import ErrorResponse, error_response_in
from coppice.models.providers.failures import RefusedInStreamError
from coppice.tree.messages import StopReason, Usage
from coppice.tree.rendering.reasoning import REASONING_NAMES

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"

_STOPS: Final[dict[str, StopReason]] = {
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "toolUse",
    "function_call": "toolUse",
    "tool_use": "toolUse",
}
_REFUSALS: Final = frozenset({"content_filter", "sensitive", "refusal", "safety"})
_BREAKDOWNS: Final = frozenset(
    {"error", "error_finish", "network_error", "insufficient_system_resource", "abort", "aborted"}
)
_WINDOW_FULL: Final = "model_context_window_exceeded"


class ThinkTag:
    """Sorts pieces of text into thinking and text, holding back no more than may become a tag."""

    def __init__(self, text: Callable[[str], None], thinking: Callable[[str], None]) -> None:
        self._text = text
        self._thinking = thinking
        self._state = "start"
        self._held = ""
        self._blanks: list[str] = []

    def feed(self, piece: str) -> None:
        """Take in a piece of the content, which may end inside a tag."""
        if self._state == "text":
            self._text(piece)
            return
        self._held += piece
        if self._state == "start":
            self._start()
        if self._state == "thinking":
            self._think()
        if self._state == "after":
            self._after()

    def end(self) -> None:
        """Lets go of what is held: the answer is over."""
        held, self._held = self._held, ""
        if self._state == "thinking":
            self._thinking(held)
        elif self._state == "start":
            self._text("".join(self._blanks) + held)
        self._state = "text"

    def _start(self) -> None:
        begun = self._held.lstrip()
        self._blanks.append(self._held[: len(self._held) - len(begun)])
        self._held = begun
        if begun.startswith(_OPEN):
            self._state, self._held = "thinking", begun[len(_OPEN) :].lstrip("\n")
        elif not _OPEN.startswith(begun):
            self._state, held, self._held = "text", "".join(self._blanks) + begun, ""
            self._text(held)

    def _think(self) -> None:
        thought, closed, rest = self._held.partition(_CLOSE)
        if closed:
            self._thinking(thought.rstrip("\n"))
            self._state, self._held = "after", rest
            return
        keep = _tail_that_may_close(self._held)
        self._thinking(self._held[: len(self._held) - keep])
        self._held = self._held[len(self._held) - keep :]

    def _after(self) -> None:
        """The blank lines between the thinking and the text belong to neither."""
        rest = self._held.lstrip()
        self._held = ""
        if rest:
            self._state = "text"
            self._text(rest)


def _tail_that_may_close(text: str) -> int:
    longest = min(len(_CLOSE) - 1, len(text))
    return next((size for size in range(longest, 0, -1) if _CLOSE.startswith(text[-size:])), 0)


class CompletionReader(AnswerReader):
    """Reads one chat completion, streamed as chunks or whole."""

    def __init__(self, builder: AnswerBuilder) -> None:
        super().__init__(builder)
        self._tag = ThinkTag(builder.text, builder.thinking)
        self._usage: Usage | None = None
        self._whole = False

    def event(self, data: str) -> bool:
        """Take in one chunk; False after the last one. Raises RefusedInStreamError and AnswerFaultError."""
        return data.strip() != "[DONE]" and super().event(data)

    def _event(self, event: Any) -> bool:
        self._take(event, "delta")
        return True

    def whole(self, data: Any) -> None:
        """Take in a completion that was not streamed."""
        self._take(data, "message")
        self._whole = self._understood

    def ending(self) -> Ending:
        """Raises AnswerFaultError for a stream that gave no reason for its end.

        `[DONE]` is none: llama-cpp-python also ends what it interrupts with it. The usage after an
        answer does, which by OpenAI's reference an interrupted stream may lack.
        """
        self._tag.end()
        if not self._understood:
            raise AnswerFaultError("bad-answer", "sent no chat completion. Check baseUrl.")
        if self._reason is None and not self._whole:
            raise AnswerFaultError("cut-off", "broke off in the middle of the answer. Try again.")
        return Ending(self._stop_reason(), self._usage, self._model)

    def _take(self, data: Any, part: str) -> None:
        chunk = as_object(data)
        if error := error_response_in(data, None):
            raise RefusedInStreamError(error)
        self._model = as_text(chunk.get("model"))[:LONGEST_NAME] or self._model
        usage = _usage(chunk.get("usage")) or _usage(at(chunk, "x_groq", "usage"))
        self._usage = usage or self._usage
        if isinstance(chunk.get("choices"), list):
            self._whole = self._understood and usage is not None and not chunk["choices"]
            self._understood = True
        for choice in objects(chunk.get("choices")):
            if as_count(choice.get("index")) not in (0, None):
                continue
            self._delta(as_object(choice.get(part)) or as_object(choice.get("delta")))
            self._reason = as_text(choice.get("finish_reason")) or self._reason

    def _delta(self, delta: dict[str, Any]) -> None:
        self._think(delta)
        content = delta.get("content")
        if isinstance(content, str):
            self._tag.feed(content)
        for block in objects(content):
            self._block(block)
        for call in objects(delta.get("tool_calls")):
            self._call(call)
        if as_text(delta.get("refusal")):
            self._reason = "refusal"

    def _think(self, delta: dict[str, Any]) -> None:
        for name in REASONING_NAMES:
            if thinking := as_text(delta.get(name)):
                self._builder.thinking(thinking)
                self._builder.name_thinking(name)
                return

    def _block(self, block: dict[str, Any]) -> None:
        """A piece of content as a block: Mistral's reasoning models send them."""
        if block.get("type") == "thinking":
            thinking = block.get("thinking")
            pieces = [as_text(each.get("text")) for each in objects(thinking)] or [as_text(thinking)]
            self._builder.thinking("".join(pieces))
        else:
            self._tag.feed(as_text(block.get("text")))

    def _call(self, call: dict[str, Any]) -> None:
        """A piece of a tool call. `index` is its place; Gemini sends none, Ollama the same for all."""
        call_id, name = as_text(call.get("id")), as_text(at(call, "function", "name"))
        arguments = at(call, "function", "arguments")
        text = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
        place = as_count(call.get("index"))
        open_call = self._calls.get(place) if place is not None else self._builder.last_call
        if open_call is None or (call_id and call_id != open_call.call_id):
            self._tag.end()
            open_call = self._builder.open_call(call_id, name)
            name = ""
        if place is not None:
            self._calls[place] = open_call
        self._builder.arguments(open_call, text, name)

    def _stop_reason(self) -> StopReason:
        reason = (self._reason or "stop").lower()
        if reason in _REFUSALS:
            raise AnswerFaultError("refused", "will not answer this: its content filter stopped the answer.")
        if reason in _BREAKDOWNS:
            raise RefusedInStreamError(ErrorResponse(None, None, f"the answer ended with {reason}"))
        if reason == _WINDOW_FULL:
            if not self._builder.begun:
                raise RefusedInStreamError(ErrorResponse(None, reason, reason))
            return "length"
        if reason in _STOPS:
            return _STOPS[reason]
        return "toolUse" if self._builder.last_call else "stop"


def _usage(value: Any) -> Usage | None:
    """Tokens by kind; what was read from a cache is not counted as input too."""
    usage = as_object(value)
    prompt, output = as_count(usage.get("prompt_tokens")), as_count(usage.get("completion_tokens"))
    if prompt is None or output is None:
        return None
    cached = as_count(at(usage, "prompt_tokens_details", "cached_tokens"))
    if cached is None:
        cached = as_count(usage.get("prompt_cache_hit_tokens"))  # DeepSeek
    total = as_count(usage.get("total_tokens")) or prompt + output
    if cached is None:
        return Usage(input=prompt, output=output, total_tokens=total)
    return Usage(input=max(0, prompt - cached), output=output, cache_read=cached, total_tokens=total)
