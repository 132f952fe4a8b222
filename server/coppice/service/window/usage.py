"""How full the model's window is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from coppice.compaction.span.sizes import fitted_sizes
from coppice.protocol.tools import Skill, Tool
from coppice.protocol.usage import OverheadPart, TokenSource, UsageState
from coppice.service.core.conversation_path import ConversationPath
from coppice.settings import Settings
from coppice.tokens.counting import count_tokens, estimate_tokens, load_soon, uses_tokenizer
from coppice.tokens.measuring import compact_json, size_of_message
from coppice.tokens.size import Size
from coppice.tree.entries import Entry
from coppice.tree.view import pinned_message


class Counter:
    """Reads one number off a size: the tokenizer's or the estimate, as the setting selects."""

    def __init__(self, settings: Settings) -> None:
        self._tokenizer = uses_tokenizer(settings.tokens)
        if self._tokenizer:
            load_soon()
        self.source: TokenSource = "tokenizer" if self._tokenizer else "estimate"

    def tokens(self, size: Size) -> int:
        """The count of a stored size."""
        return size.tokenizer if self._tokenizer else size.estimate

    def count_text(self, text: str) -> int:
        """Tokens of a text that is not stored. CPU-bound with the tokenizer."""
        return count_tokens(text) if self._tokenizer else estimate_tokens(text)

    def pinned_tokens(self, entries: Iterable[Entry]) -> int:
        """The size of pinned entries as the view shows them."""
        messages = (pinned_message(entry) for entry in entries)
        return sum(self.tokens(size_of_message(message)) for message in messages if message is not None)


def context_tokens(path: ConversationPath, counter: Counter) -> tuple[int, TokenSource]:
    """The size of the view, in tokens, and where the number comes from. Reads the store.

    The newest valid provider count on the path that is not older than the newest compaction, with our
    count of what came after it; else our count alone.
    """
    end = path.end
    if end is not None and end.usage_tokens is not None:
        return max(0, end.usage_tokens + counter.tokens(end.since_usage)), "usage"
    return counted_tokens(path, counter), counter.source


def provider_edits_context(settings: Settings) -> bool:
    """Whether the provider is asked to clear old tool results itself.

    What it counted of a request is then less than the view, and the size that counts.
    """
    return settings.model.context_editing and settings.model.provider == "anthropic"


def counted_tokens(path: ConversationPath, counter: Counter) -> int:
    """The size of the view by our count alone. Reads the store."""
    end, compaction = path.end, path.compaction
    if end is None:
        return 0
    if compaction is None:
        return counter.tokens(end.total - end.saved)
    counted = counter.tokens(compaction.size + end.total - compaction.before_kept - end.saved)
    return max(0, counted) + (counter.pinned_tokens(path.pinned()) if compaction.has_pins else 0)


@dataclass(frozen=True, slots=True)
class Overhead:
    """What a request carries besides the view: the parts that are there, largest first."""

    parts: Sequence[OverheadPart]

    @property
    def total(self) -> int:
        """Tokens of all parts."""
        return sum(part.tokens for part in self.parts)

    def of_kind(self, kind: str) -> int:
        """Tokens of the parts of one kind."""
        return sum(part.tokens for part in self.parts if part.kind == kind)


def overhead_of(
    counter: Counter,
    system: str | None,
    tools: Sequence[Tool] | None,
    skills: Sequence[Skill] | None,
) -> Overhead:
    """CPU-bound: call it off the event loop."""
    texts: list[tuple[Literal["tool", "skill"], str, str]] = [
        ("tool", tool.name, compact_json(tool.model_dump(mode="json", by_alias=True))) for tool in tools or ()
    ]
    texts += [("skill", skill.name, skill.text) for skill in skills or ()]
    parts = [
        OverheadPart(kind=kind, name=name, tokens=counter.count_text(text)) for kind, name, text in texts
    ]
    if system:
        parts.append(OverheadPart(kind="system", tokens=counter.count_text(system)))
    return Overhead(sorted(parts, key=lambda part: -part.tokens))


def usage_state(
    path: ConversationPath, context_window: int | None = None, overhead_tokens: int = 0
) -> UsageState:
    """How full the next request is, with `overhead_tokens` that are known to go with the view.

    A provider's count, where it is larger, includes what was sent with its request. Reads the store: call it
    off the event loop.
    """
    settings = path.settings
    counter = Counter(settings)
    sizes = fitted_sizes(settings.compaction, context_window or settings.model.context_window)
    tokens, source = context_tokens(path, counter)
    is_whole = source != "usage" or not provider_edits_context(settings)
    if overhead_tokens and is_whole and (counted := counted_tokens(path, counter) + overhead_tokens) > tokens:
        tokens, source = counted, counter.source
    return UsageState(
        tokens=tokens,
        context_window=sizes.window,
        reserve_tokens=sizes.reserve,
        threshold_tokens=sizes.threshold,
        should_compact=settings.compaction.enabled and tokens > sizes.threshold,
        source=source,
    )
