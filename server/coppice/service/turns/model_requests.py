"""The requests of a turn to its model: what is asked, the pauses after failures, what is reported."""

import asyncio
from hashlib import blake2b
from typing import Final

from typing_extensions import override

from coppice.compaction.clearing import clear_sizes, clears
from coppice.models.chat import ContextEditing, Delta, ModelError
from coppice.protocol.base import WireModel
from coppice.protocol.prompt import CompactionUpdate, TextUpdate, ThinkingUpdate
from coppice.service.core.progress import JobProgress, StepProgress
from coppice.service.window.usage import provider_edits_context
from coppice.settings import Settings
from coppice.tree.messages import AssistantContent, TextContent, ThinkingContent

_TOKENS_PER_TOOL_USE: Final = 1_200
"""With what goes with it: 40,000 tokens of six recorded sessions hold 34 tool results, the median."""
_FOR_THE_MOMENT: Final = frozenset({"rate-limit", "server", "network", "cut-off"})
_LONGEST_ASKED: Final = 600.0
"""The longest `retry-after`, in seconds, that is waited for. A guess: later, nobody is there."""
_LONGEST_PAUSE: Final = 60.0
"""The longest pause, in seconds, that no provider asked for: they count requests and tokens by the minute."""


class TurnProgress(StepProgress):
    """A turn has no percentage. `compactions` are the entries of those that were made in it."""

    def __init__(self, whole: JobProgress) -> None:
        super().__init__(whole)
        self.compactions: list[str] = []

    @override
    def report(self, stage: str, percentage: int = 0) -> None:
        del percentage
        super().report(stage, 0)

    @override
    def partial(self, value: WireModel) -> None:
        if isinstance(value, CompactionUpdate) and value.entry_id is not None:
            self.compactions.append(value.entry_id)
        super().partial(value)


class PartialReply:
    """The text and the thinking of a reply that is not whole yet; a part of a tool call is no call."""

    def __init__(self, progress: JobProgress) -> None:
        self._progress = progress
        self._parts: list[tuple[str, list[str]]] = []

    def add(self, delta: Delta) -> None:
        """Takes in a piece of the reply and reports it. Pieces of tool calls are not reported."""
        if delta.kind == "toolCall" or not delta.text:
            return
        update = TextUpdate(text=delta.text) if delta.kind == "text" else ThinkingUpdate(text=delta.text)
        self._progress.partial(update)
        if not self._parts or self._parts[-1][0] != delta.kind:
            self._parts.append((delta.kind, []))
        self._parts[-1][1].append(delta.text)

    def content(self) -> list[AssistantContent]:
        """The blocks so far; those without a letter are left out."""
        joined = ((kind, "".join(pieces)) for kind, pieces in self._parts)
        return [
            TextContent(text=text) if kind == "text" else ThinkingContent(thinking=text)
            for kind, text in joined
            if text.strip()
        ]


def context_editing(settings: Settings, context_window: int) -> ContextEditing | None:
    """What the provider is asked to clear itself; None where the user does not want that."""
    if not (clears(settings) and provider_edits_context(settings)):
        return None
    sizes = clear_sizes(settings.compaction.clear, context_window)
    keep = max(1, sizes.keep // _TOKENS_PER_TOOL_USE)
    return ContextEditing(sizes.start, keep_tool_uses=keep, least_gain_tokens=sizes.least_gain)


def cache_key(conversation_id: str) -> str:
    """The same for each request of a conversation; it tells nothing of the conversation."""
    return blake2b(conversation_id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class Waiting:
    """The pauses of one turn. `ask_now` ends the pause that is."""

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self._left = patience
        self._now = asyncio.Event()
        self._attempt = 0
        self._is_pausing = False

    @property
    def attempt(self) -> int:
        """The number of pauses since the last reply."""
        return self._attempt

    def replied(self) -> None:
        """A reply has come: what follows is waited for with all the patience again."""
        self._left = self.patience
        self._attempt = 0

    def next_pause(self, error: ModelError) -> float | None:
        """The pause after `error`, in seconds; None where waiting does not help, or has taken long enough.

        Without a `retry-after` it doubles from one second. The first pause is as long as the provider asked
        for, each later one at least half of what it would be otherwise: some ask for none, for ever.
        """
        if error.kind not in _FOR_THE_MOMENT or self._left <= 0:
            return None
        doubled = min(2.0**self._attempt, _LONGEST_PAUSE)
        if error.retry_after is None:
            return min(doubled, self._left)
        if error.retry_after > min(_LONGEST_ASKED, self._left):
            return None
        return min(max(error.retry_after, doubled / 2), self._left) if self._attempt else error.retry_after

    async def pause(self, seconds: float) -> None:
        """Waits for `seconds`, or until `ask_now`. Only what was waited counts against the patience."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        self._attempt += 1
        self._now.clear()
        self._is_pausing = True
        try:
            async with asyncio.timeout(seconds):
                await self._now.wait()
        except TimeoutError:
            pass
        finally:
            self._is_pausing = False
            self._left -= loop.time() - began

    def ask_now(self) -> bool:
        """Ends the pause; False where there is none."""
        if self._is_pausing:
            self._now.set()
        return self._is_pausing
