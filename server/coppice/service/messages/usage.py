"""Messages of `coppice/usage`: how full the model's window is."""

from typing import Annotated, Literal

from pydantic import Field

from coppice.models.chat import Tool
from coppice.service.messages.base import ConversationParams, WireModel

TokenSource = Literal["usage", "tokenizer", "estimate"]


class TokenBreakdown(WireModel):
    """Tokens of the current view by kind, and of what goes beside it: `system` and `tools`."""

    user: int = 0
    assistant: int = 0
    thinking: int = 0
    tool_calls: int = 0
    tool_results: int = 0
    images: int = 0
    summary: int = 0
    pins: int = 0
    system: int = 0
    tools: int = 0


class HeavyEntry(WireModel):
    entry_id: str
    tokens: int
    preview: str


class UsageState(WireModel):
    """Token counts of the next request against the model's window: of the view, and what goes beside it.

    `source` tells how `tokens` came about: `usage`, the provider's own count plus what came after it;
    `tokenizer` or `estimate`, our count alone. `shouldCompact` is true when `tokens` exceeds
    `thresholdTokens`, which is the window less the reserve.
    """

    tokens: int
    context_window: int
    reserve_tokens: int
    threshold_tokens: int
    should_compact: bool
    source: TokenSource
    breakdown: TokenBreakdown | None = None
    heaviest: list[HeavyEntry] | None = None


class UsageParams(ConversationParams):
    """With `tools` and `system`, what the next request is sent with, the counts are of the whole request."""

    context_window: Annotated[int, Field(ge=1)] | None = None
    detail: bool = False
    tools: list[Tool] | None = None
    system: str | None = None
