"""Where a view's tokens go."""

from collections.abc import Collection, Iterator, Sequence
from heapq import nlargest

from coppice.protocol.usage import HeavyEntry, TokenBreakdown
from coppice.service.window.usage import Counter, Overhead
from coppice.store.schema.records import CompactionRecord
from coppice.tokens.counting import IMAGE_TOKENS
from coppice.tokens.measuring import compact_json, size_of_message, size_of_text
from coppice.tree.entries import MessageEntry
from coppice.tree.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    TextContent,
    ThinkingContent,
    ToolResultMessage,
    UserMessage,
)
from coppice.tree.preview import preview_of
from coppice.tree.view import ViewMessage

HEAVIEST = 10  # items that are listed: what a person can act on


def breakdown_of(
    view: Sequence[ViewMessage],
    counter: Counter,
    compaction: CompactionRecord | None = None,
    pinned: Collection[str] = (),
    overhead: Overhead | None = None,
) -> TokenBreakdown:
    """Tokens by kind. Each block is counted by itself, so the sum may differ from the whole by rounding.

    `pinned` are the ids of entries that the view shows outside their places, because they are pinned.
    """
    whole = dict.fromkeys(pinned, "pins")
    if compaction is not None:
        whole[compaction.entry_id] = "summary"
    totals = dict.fromkeys(TokenBreakdown.model_fields, 0)
    for item in view:
        for kind, tokens in _kinds(item.message, counter):
            totals[whole.get(item.entry_id or "", kind)] += tokens
    if overhead is not None:
        totals |= {f"{kind}s": overhead.of_kind(kind) for kind in ("tool", "skill")}
        totals["system"] = overhead.of_kind("system")
    return TokenBreakdown(**totals)


def heaviest_of(view: Sequence[ViewMessage], counter: Counter) -> list[HeavyEntry]:
    """The ten largest entries of the view, largest first."""
    sized = [(counter.tokens(size_of_message(item.message)), item) for item in view if item.entry_id]
    return [
        HeavyEntry(entry_id=item.entry_id or "", tokens=tokens, preview=_preview(item))
        for tokens, item in nlargest(HEAVIEST, sized, key=lambda pair: pair[0])
    ]


def _preview(item: ViewMessage) -> str:
    return preview_of(MessageEntry(id="", parent_id=None, timestamp="", message=item.message))


def _kinds(message: Message, counter: Counter) -> Iterator[tuple[str, int]]:
    if isinstance(message, AssistantMessage):
        for part in message.content:
            match part:
                case ThinkingContent():
                    yield "thinking", counter.tokens(size_of_text(part.thinking))
                case TextContent():
                    yield "assistant", counter.tokens(size_of_text(part.text))
                case _:
                    yield "tool_calls", counter.tokens(size_of_text(part.name + compact_json(part.arguments)))
        return
    kind = "tool_results" if isinstance(message, ToolResultMessage) else "user"
    images = _image_tokens(message)
    yield kind, counter.tokens(size_of_message(message)) - images
    yield "images", images


def _image_tokens(message: Message) -> int:
    if not isinstance(message, UserMessage | ToolResultMessage) or isinstance(message.content, str):
        return 0
    return IMAGE_TOKENS * sum(isinstance(block, ImageContent) for block in message.content)
