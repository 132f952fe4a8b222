"""Messages of `coppice/usage`: how full the model's window is."""

from typing import Literal

from coppice.protocol.base import ConversationParams, WireModel
from coppice.protocol.tools import Skill, Tool
from coppice.settings import Tokens

TokenSource = Literal["usage", "tokenizer", "estimate"]


class TokenBreakdown(WireModel):
    """Tokens of the current view by kind, and of what a request carries besides: `system`, `tools`, `skills`.

    `summary` is the newest compaction's, `pins` are pinned messages that are shown outside their places.
    """

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
    skills: int = 0


class OverheadPart(WireModel):
    """A part of a request that is no message: the system prompt, a tool's definition or a skill."""

    kind: Literal["system", "tool", "skill"]
    name: str | None = None
    tokens: int


class HeavyEntry(WireModel):
    """One of the largest entries of the view."""

    entry_id: str
    tokens: int
    preview: str


class Spent(WireModel):
    """What `requests` requests to models took, as far as their replies record it.

    `input` are the tokens that were sent, `cacheRead` of them read from the provider's cache and `cacheWrite`
    written to it; `output` those that came back. `milliseconds` is the time of the requests together,
    `firstTokenMilliseconds` what of it passed before the first piece of each answer.
    """

    requests: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    milliseconds: int = 0
    first_token_milliseconds: int = 0


class SpentByModel(WireModel):
    """What one model took of the sums. `provider` and `model` are as its replies record them, else absent.

    Of the model that wrote a summary there is no provider.
    """

    provider: str | None = None
    model: str | None = None
    turn: Spent
    conversation: Spent
    compactions: Spent
    whole: Spent
    unused: Spent


class SpentState(WireModel):
    """Sums for the `turn` that the path ends with, and for the path (`conversation`), with its
    `compactions`.

    `whole` is all of the conversation: the replies and summaries of all its branches, and the summaries that
    were written and not taken since the server started, which `unused` sums up. What an undo stored again is
    in it once.

    `models` are the parts of the models that took something, writers of summaries last: a conversation's
    model can be changed.
    """

    turn: Spent
    conversation: Spent
    compactions: Spent
    whole: Spent
    unused: Spent
    models: list[SpentByModel]


class UsageState(WireModel):
    """Token counts of the next request, with all that it carries, against the model's window.

    `source` is how `tokens` were counted: `usage`, the provider's own count plus what came after it;
    `tokenizer` or `estimate`, our count alone. `shouldCompact` is true when `tokens` exceeds
    `thresholdTokens`, which is the window less the reserve. `overhead` lists what the request carries besides
    the view, largest first.
    """

    tokens: int
    context_window: int
    reserve_tokens: int
    threshold_tokens: int
    should_compact: bool
    source: TokenSource
    breakdown: TokenBreakdown | None = None
    heaviest: list[HeavyEntry] | None = None
    overhead: list[OverheadPart] | None = None
    spent: SpentState | None = None


class UsageParams(ConversationParams):
    """`tools`, `system` and `skills` are what the next request carries; the counts are of all of it. The
    tools that the server itself adds in its turns, for notes and for the history, are counted there alone.

    With `spent` the whole path is read for what its requests took.
    """

    context_window: Tokens | None = None
    detail: bool = False
    spent: bool = False
    tools: list[Tool] | None = None
    system: str | None = None
    skills: list[Skill] | None = None
