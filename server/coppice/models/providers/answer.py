"""An answer as it grows out of its pieces."""

import json
import secrets
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, Final, Literal

from coppice.models.chat import Delta, OnDelta
from coppice.models.providers.answer_fault import AnswerFaultError
from coppice.tree.messages import AssistantContent, TextContent, ThinkingContent, ToolCall
from coppice.tree.nesting import nests_deeper

LARGEST_ANSWER: Final = 4_000_000
"""Characters of all parts together, ids and signatures too: ten times what models can answer at most."""

LONGEST_ID: Final = 1_000
"""Characters of a tool call's id. Providers write 10 to 70."""

LONGEST_NAME: Final = 200
"""Characters of a tool's name. Providers allow 64 or 128."""

LONGEST_MESSAGE: Final = 4_000
"""Characters of an error's message: fifty lines of a screen."""

MOST_BLOCKS: Final = 1_000
"""Blocks of one answer. Each of its tool calls is one; 1,773 recorded replies have at most ten."""

MOST_PIECES: Final = 2 * MOST_BLOCKS
"""Pieces of one event: each block's beginning and its text. Each is a message to the client."""

_DEEPEST_ARGUMENTS: Final = 100
"""Levels of arrays and objects; what is stored must fit into a message to a client."""


@dataclass(slots=True)
class Block:
    """A block of an answer that may still grow."""

    kind: Literal["text", "thinking", "toolCall"]
    text: StringIO = field(default_factory=StringIO)
    call_id: str = ""
    name: str = ""
    signature: StringIO = field(default_factory=StringIO)
    redacted: bool = False

    @property
    def is_signed(self) -> bool:
        """Whether it has a provider's proof."""
        return self.signature.tell() > 0


class AnswerBuilder:
    """Puts pieces together and passes each on as a Delta. Raises AnswerFaultError when they get too many.

    `last_call` is the tool call that was opened last.
    """

    def __init__(self, on_delta: OnDelta | None) -> None:
        self._on_delta = on_delta
        self._blocks: list[Block] = []
        self._size = 0
        self._pieces = 0
        self._passed_on = False
        self.last_call: Block | None = None

    @property
    def begun(self) -> bool:
        """Whether any of it was passed on: from then on the request is not made again."""
        return self._passed_on

    def begin_event(self) -> None:
        """What follows came in one event, or is an answer in one piece."""
        self._pieces = 0

    def text(self, piece: str) -> None:
        """Append to the text."""
        if piece:
            self._grow(self._last("text"), piece, Delta("text", piece))

    def sign_text(self, signature: str) -> None:
        """The provider's proof that the text so far is its own; what follows is a block by itself.

        Left out where no text is before it, or its text has a proof.
        """
        last = self._blocks[-1] if self._blocks else None
        if signature and last is not None and last.kind == "text" and not last.is_signed:
            self._count(signature)
            last.signature.write(signature)

    def thinking(self, piece: str) -> None:
        """Append to the thinking."""
        if piece:
            self._grow(self._last("thinking"), piece, Delta("thinking", piece))

    def open_thinking(self) -> None:
        """Begins a block of thinking that is signed by itself."""
        self._new(Block("thinking"))

    def sign_thinking(self, signature: str) -> None:
        """The provider's proof that the thinking is its own; it is sent back with it."""
        if signature:
            self._count(signature)
            self._last("thinking").signature.write(signature)

    def redacted_thinking(self, data: str) -> None:
        """Thinking that only the provider can read; it is sent back as it came."""
        if data:
            self._count(data)
            self._new(Block("thinking", redacted=True)).signature.write(data)

    def name_thinking(self, name: str) -> None:
        """Where the provider puts thinking, which it may want back there."""
        block = self._last("thinking")
        block.signature = StringIO()
        block.signature.write(name)

    def open_call(self, call_id: str, name: str) -> Block:
        """Begins a tool call, to which `arguments` appends."""
        self._count(call_id, LONGEST_ID)
        self._count(name, LONGEST_NAME)
        call = self._new(Block("toolCall", call_id=call_id or new_call_id(), name=name))
        self.last_call = call
        self._emit(Delta("toolCall", ""))
        return call

    def arguments(self, call: Block, piece: str, name: str = "") -> None:
        """Append to the JSON of a call's arguments, and to its name if that comes in pieces too."""
        if name:
            self._count(name, LONGEST_NAME - len(call.name))
            call.name += name
        if piece:
            self._grow(call, piece, Delta("toolCall", piece))

    def whole_arguments(self, call: Block, arguments: Any) -> None:
        """The arguments of a call as a JSON value, in one piece."""
        if not arguments:
            return
        try:
            self.arguments(call, json.dumps(arguments, ensure_ascii=False))
        except RecursionError:
            raise AnswerFaultError("bad-answer", "sent arguments that nest too deep.") from None

    def sign_call(self, call: Block, signature: str) -> None:
        """The provider's proof that the call is its own; it is sent back with it."""
        self._count(signature)
        call.signature.write(signature)

    def content(self, *, complete: bool) -> list[AssistantContent]:
        """The blocks, in the order in which they began; blocks without a letter are left out.

        A call whose arguments are no JSON object is left out where the answer was cut (`complete` is false).
        One with the id of another gets a new one: its result could not be told from the other's.
        """
        ids = set[str]()
        for block in self._blocks:
            if block.call_id in ids:
                block.call_id = new_call_id()
            ids |= {block.call_id} - {""}
        contents = (self._content(block, complete=complete) for block in self._blocks)
        return [content for content in contents if content is not None]

    def _content(self, block: Block, *, complete: bool) -> AssistantContent | None:
        text = block.text.getvalue()
        match block.kind:
            case "text":
                proof = block.signature.getvalue()
                return TextContent(text=text, **_signed("text_signature", proof)) if text.strip() else None
            case "thinking":
                signature = block.signature.getvalue()
                more = _signed("thinking_signature", signature)
                more |= {"redacted": True} if block.redacted else {}
                return ThinkingContent(thinking=text, **more) if text.strip() or more else None
            case "toolCall":
                arguments = _arguments(text)
                if not block.name or (arguments is None and not complete):
                    return None
                if arguments is None:
                    return ToolCall(id=block.call_id, name=block.name, arguments={}, invalid_arguments=text)
                signed = _signed("thought_signature", block.signature.getvalue())
                return ToolCall(id=block.call_id, name=block.name, arguments=arguments, **signed)

    def _last(self, kind: Literal["text", "thinking"]) -> Block:
        last = self._blocks[-1] if self._blocks else None
        if last is not None and last.kind == kind and not (kind == "text" and last.is_signed):
            return last
        return self._new(Block(kind))

    def _new(self, block: Block) -> Block:
        if len(self._blocks) >= MOST_BLOCKS:
            raise AnswerFaultError("bad-answer", "sent more blocks than an answer can hold; it was stopped.")
        self._blocks.append(block)
        return block

    def _grow(self, block: Block, piece: str, delta: Delta) -> None:
        self._count(piece)
        block.text.write(piece)
        self._emit(delta)

    def _count(self, piece: str, longest: int = LARGEST_ANSWER) -> None:
        self._size += len(piece)
        if self._size > LARGEST_ANSWER or len(piece) > longest:
            raise AnswerFaultError("bad-answer", "sent an answer that is too large; it was stopped.")

    def _emit(self, delta: Delta) -> None:
        self._passed_on = True
        self._pieces += 1
        if self._pieces > MOST_PIECES:
            raise AnswerFaultError("bad-answer", "sent an answer in too many pieces; it was stopped.")
        if self._on_delta is not None:
            self._on_delta(delta)


def new_call_id() -> str:
    """An id for a call that has none, or that of another."""
    return f"call_{secrets.token_hex(8)}"


def _signed(name: str, signature: str) -> dict[str, Any]:
    """The property for a signature; none where there is no signature, as it came."""
    return {name: signature} if signature else {}


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
