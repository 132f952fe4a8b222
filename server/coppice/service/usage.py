"""How full the model's window is."""

from coppice.compaction.sizes import Sizes, fitted_sizes
from coppice.service.messages.usage import TokenSource, UsageState
from coppice.settings import Settings
from coppice.store.records import CompactionRecord, PathEnd
from coppice.store.store import Store
from coppice.tokens.counting import count_tokens, estimate_tokens, uses_tokenizer
from coppice.tokens.size import Size


class Counter:
    """Reads one number off a size: the tokenizer's or the estimate, as the setting says."""

    def __init__(self, settings: Settings) -> None:
        self._tokenizer = uses_tokenizer(settings.tokens)
        self.source: TokenSource = "tokenizer" if self._tokenizer else "estimate"

    def tokens(self, size: Size) -> int:
        return size.tokenizer if self._tokenizer else size.estimate

    def count_text(self, text: str) -> int:
        return count_tokens(text) if self._tokenizer else estimate_tokens(text)


def context_tokens(
    end: PathEnd | None, compaction: CompactionRecord | None, counter: Counter
) -> tuple[int, TokenSource]:
    """The size of the view, in tokens, and where the number comes from.

    The newest valid provider count on the path that is not older than the newest compaction, with our
    count of what came after it; else our count alone.
    """
    if end is None:
        return 0, counter.source
    if end.usage_tokens is not None:
        return end.usage_tokens + counter.tokens(end.since_usage), "usage"
    if compaction is None:
        return counter.tokens(end.total), counter.source
    return counter.tokens(compaction.size + end.total - compaction.before_kept), counter.source


def usage_state(
    store: Store, end: PathEnd | None, settings: Settings, context_window: int | None = None
) -> UsageState:
    """Reads the store: call it off the event loop."""
    sizes: Sizes = fitted_sizes(settings.compaction, context_window or settings.model.context_window)
    compaction = store.compaction(end) if end is not None and end.usage_tokens is None else None
    tokens, source = context_tokens(end, compaction, Counter(settings))
    return UsageState(
        tokens=tokens,
        context_window=sizes.window,
        reserve_tokens=sizes.reserve,
        threshold_tokens=sizes.threshold,
        should_compact=settings.compaction.enabled and tokens > sizes.threshold,
        source=source,
    )
