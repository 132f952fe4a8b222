"""Models that play a part: what they answer is a function of what they are asked."""

import asyncio
import re
from collections.abc import Callable, Sequence

from coppice.models.chat import ChatRequest, Delta, ModelError, ModelLimits, OnDelta
from coppice.tokens.counting import count_tokens
from coppice.tree.messages import AssistantMessage, StopReason, TextContent, Usage, text_of

Answer = str | AssistantMessage | Exception
Part = Callable[[ChatRequest], Answer]

GOOD = """## Goal
Build the importer

## Constraints & Preferences
(none)

## Progress
### Done
- [x] Wrote `src/importer.py` with read_rows
### In Progress
- [ ] The exporter
### Blocked
(none)

## Key Decisions
- **SQLite**: no server to run

## Next Steps
1. Write the exporter

## Critical Context
- The port is 5433"""


def reply_of(text: str, stop: StopReason = "stop") -> AssistantMessage:
    return AssistantMessage(
        content=[TextContent(text=text)], stop_reason=stop, usage=Usage(input=100, output=10)
    )


def asked(request: ChatRequest) -> str:
    """The whole text of a request."""
    message = request.messages[0].message
    return text_of(message.content) if message.role == "user" else ""


def block(request: ChatRequest, tag: str) -> str:
    """What is between a request's tags."""
    match = re.search(rf"^<{tag}>\n(.*?)\n</{tag}>$", asked(request), re.DOTALL | re.MULTILINE)
    return match[1] if match else ""


class ScriptedModel:
    """Answers by `part`, or one after the other of a list; the last answer is repeated for all later ones.

    A request that does not fit `window`, counted as the model counts, fails as an overflow.
    """

    def __init__(
        self,
        part: Part | Sequence[Answer],
        *,
        window: int = 200_000,
        stated_window: int | None = None,
        seconds: float = 0.0,
        tokens_per_token: float = 1.0,
    ) -> None:
        self._part = part
        self._window = window
        self._stated = stated_window or window
        self._seconds = seconds
        self._factor = tokens_per_token
        self.requests: list[ChatRequest] = []
        self.overflows = 0
        self.running = 0
        self.most_running = 0
        self.cancelled = 0
        self.both_running = asyncio.Event()

    edits_context = False

    @property
    def name(self) -> str:
        return "scripted/model"

    async def limits(self) -> ModelLimits:
        return ModelLimits(self._stated, None, "settings")

    async def complete(self, request: ChatRequest, on_delta: OnDelta | None = None) -> AssistantMessage:
        need = int((count_tokens(asked(request)) + count_tokens(request.system or "")) * self._factor)
        if need + request.max_tokens > self._window:
            self.overflows += 1
            raise ModelError("The request does not fit the window.", kind="overflow", status=400)
        self.requests.append(request)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        if self.running > 1:
            self.both_running.set()
        try:
            await asyncio.sleep(self._seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1
        answer = self._answer(request)
        if isinstance(answer, Exception):
            raise answer
        message = reply_of(answer) if isinstance(answer, str) else answer
        if on_delta is not None:
            on_delta(Delta("text", text_of(message.content)))
        return message

    async def close(self) -> None:
        return None

    def _answer(self, request: ChatRequest) -> Answer:
        if callable(self._part):
            return self._part(request)
        return self._part[min(len(self.requests), len(self._part)) - 1]
