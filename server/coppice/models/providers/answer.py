"""An answer as it grows out of its pieces."""

import json
import secrets
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from coppice.models.chat import Delta, OnDelta
from coppice.models.providers.answer_fault import AnswerFaultError
from coppice.tree.messages import AssistantContent, TextContent, ThinkingContent, ToolCall
from coppice.tree.nesting import nests_deeper

LARGEST_ANSWER: Final = 4_000_000
"""Characters of text, thinking and arguments together: ten times what models can answer at most."""

_MOST_BLOCKS: Final = 1_000  # blocks of one answer (guess)
_DEEPEST_ARGUMENTS: Final = 100
"""Levels of arrays and objects; what is stored must fit into a message to a client."""


@dataclass(slots=True)
class _Part:
    kind: Literal["text", "thinking", "toolCall"]
    pieces: list[str] = field(default_factory=list)
    call_id: str = ""
    name: str = ""
    call_index: int = 0
    signature: str = ""
    redacted: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class AnswerBuilder:
    """Puts pieces together and passes each on as a Delta. Raises AnswerFaultError when they get too many."""

    def __init__(self, on_delta: OnDelta | None) -> None:
        self._on_delta = on_delta
        self._parts: list[_Part] = []
        self._calls: list[_Part] = []
        self._size = 0

    @property
    def begun(self) -> bool:
        """Whether any of it was passed on: from then on the request is not made again."""
        return self._size > 0 or bool(self._calls)

    def text(self, piece: str) -> None:
        """Append to the text."""
        if piece:
            self._grow(self._last("text"), piece, Delta("text", piece))

    def thinking(self, piece: str) -> None:
        """Append to the thinking."""
        if piece:
            self._grow(self._last("thinking"), piece, Delta("thinking", piece))

    def open_thinking(self) -> None:
        """Begins a block of thinking that is signed by itself."""
        self._new(_Part("thinking"))

    def sign_thinking(self, signature: str) -> None:
        """The provider's proof that the thinking is its own; it is sent back with it."""
        if signature:
            self._last("thinking").signature += signature

    def redacted_thinking(self, data: str) -> None:
        """Thinking that only the provider can read; it is sent back as it came."""
        if data:
            self._new(_Part("thinking", signature=data, redacted=True))

    def name_thinking(self, name: str) -> None:
        """Where the provider puts thinking, which it may want back there."""
        self._last("thinking").signature = name

    def open_call(self, call_id: str, name: str) -> int:
        """Begins a tool call; the number is what `arguments` takes."""
        part = self._new(_Part("toolCall", call_id=call_id or f"call_{secrets.token_hex(8)}", name=name))
        part.call_index = len(self._calls)
        self._calls.append(part)
        self._emit(Delta("toolCall", "", part.call_index, part.call_id, part.name))
        return part.call_index

    def arguments(self, call_index: int, piece: str, name: str = "") -> None:
        """Append to the JSON of a call's arguments, and to its name if that comes in pieces too."""
        part = self._calls[call_index]
        part.name += name
        if piece:
            self._grow(part, piece, Delta("toolCall", piece, call_index, part.call_id, part.name))

    def call_id(self, call_index: int) -> str:
        """The id of the call that was opened as number `call_index`."""
        return self._calls[call_index].call_id

    @property
    def call_count(self) -> int:
        """How many calls were opened."""
        return len(self._calls)

    def content(self, *, complete: bool) -> list[AssistantContent]:
        """The blocks, in the order in which they began; blocks without a letter are left out.

        A call whose arguments are no JSON object is left out where the answer was cut (`complete` is false).
        """
        blocks = (self._block(part, complete=complete) for part in self._parts)
        return [block for block in blocks if block is not None]

    def _block(self, part: _Part, *, complete: bool) -> AssistantContent | None:
        text = part.text
        match part.kind:
            case "text":
                return TextContent(text=text) if text.strip() else None
            case "thinking":
                more: dict[str, Any] = {"thinking_signature": part.signature} if part.signature else {}
                more |= {"redacted": True} if part.redacted else {}
                return ThinkingContent(thinking=text, **more) if text.strip() or more else None
            case "toolCall":
                arguments = _arguments(text)
                if not part.name or (arguments is None and not complete):
                    return None
                if arguments is None:
                    return ToolCall(id=part.call_id, name=part.name, arguments={}, invalid_arguments=text)
                return ToolCall(id=part.call_id, name=part.name, arguments=arguments)

    def _last(self, kind: Literal["text", "thinking"]) -> _Part:
        if self._parts and self._parts[-1].kind == kind:
            return self._parts[-1]
        return self._new(_Part(kind))

    def _new(self, part: _Part) -> _Part:
        if len(self._parts) >= _MOST_BLOCKS:
            raise AnswerFaultError("bad-answer", "sent more blocks than an answer can hold; it was stopped.")
        self._parts.append(part)
        return part

    def _grow(self, part: _Part, piece: str, delta: Delta) -> None:
        self._size += len(piece)
        if self._size > LARGEST_ANSWER:
            raise AnswerFaultError("bad-answer", "sent an answer that is too large; it was stopped.")
        part.pieces.append(piece)
        self._emit(delta)

    def _emit(self, delta: Delta) -> None:
        if self._on_delta is not None:
            self._on_delta(delta)


def _arguments(text: str) -> dict[str, Any] | None:
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, str):  # some servers encode the arguments twice
        return _arguments(value)
    return value if isinstance(value, dict) and not nests_deeper(value, _DEEPEST_ARGUMENTS) else None
