"""How full the model's window is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coppice.compaction.sizes import fitted_sizes
from coppice.models.chat import Tool
from coppice.service.messages.usage import TokenSource, UsageState
from coppice.service.path_reading import Path
from coppice.settings import Settings
from coppice.tokens.counting import count_tokens, estimate_tokens, uses_tokenizer
from coppice.tokens.measuring import compact_json, size_of_message
from coppice.tokens.size import Size
from coppice.tree.entries import Entry
from coppice.tree.view import pinned_message


class Counter:
    """Reads one number off a size: the tokenizer's or the estimate, as the setting says."""

    def __init__(self, settings: Settings) -> None:
        self._tokenizer = uses_tokenizer(settings.tokens)
        self.source: TokenSource = "tokenizer" if self._tokenizer else "estimate"

    def tokens(self, size: Size) -> int:
        return size.tokenizer if self._tokenizer else size.estimate

    def count_text(self, text: str) -> int:
        return count_tokens(text) if self._tokenizer else estimate_tokens(text)

    def pinned_tokens(self, entries: Iterable[Entry]) -> int:
        """The size of pinned entries as the view shows them."""
        said = (pinned_message(entry) for entry in entries)
        return sum(self.tokens(size_of_message(message)) for message in said if message is not None)


def context_tokens(path: Path, counter: Counter) -> tuple[int, TokenSource]:
    """The size of the view, in tokens, and where the number comes from. Reads the store.

    The newest valid provider count on the path that is not older than the newest compaction, with our
    count of what came after it; else our count alone.
    """
    end = path.end
    if end is not None and end.usage_tokens is not None:
        return end.usage_tokens + counter.tokens(end.since_usage), "usage"
    return counted_tokens(path, counter), counter.source


def counted_tokens(path: Path, counter: Counter) -> int:
    """The size of the view by our count alone. Reads the store."""
    end, compaction = path.end, path.compaction
    if end is None:
        return 0
    if compaction is None:
        return counter.tokens(end.total)
    counted = counter.tokens(compaction.size + end.total - compaction.before_kept)
    return counted + counter.pinned_tokens(path.pinned())


@dataclass(frozen=True, slots=True)
class Beside:
    """What is sent beside a view, in tokens."""

    system: int
    tools: int

    @property
    def total(self) -> int:
        return self.system + self.tools


def size_beside(counter: Counter, system: str | None, tools: Sequence[Tool] | None) -> Beside:
    """CPU-bound: call it off the event loop."""
    described = (compact_json(tool.model_dump(mode="json", by_alias=True)) for tool in tools or ())
    return Beside(counter.count_text(system or ""), sum(map(counter.count_text, described)))


def usage_state(path: Path, context_window: int | None = None, beside: int = 0) -> UsageState:
    """How full the next request is, in which `beside` tokens are known to go with the view.

    A provider's count, where it tells more, includes what went with its own. Reads the store: call it off the
    event loop.
    """
    settings = path.settings
    counter = Counter(settings)
    sizes = fitted_sizes(settings.compaction, context_window or settings.model.context_window)
    tokens, source = context_tokens(path, counter)
    if beside and (counted := counted_tokens(path, counter) + beside) > tokens:
        tokens, source = counted, counter.source
    return UsageState(
        tokens=tokens,
        context_window=sizes.window,
        reserve_tokens=sizes.reserve,
        threshold_tokens=sizes.threshold,
        should_compact=settings.compaction.enabled and tokens > sizes.threshold,
        source=source,
    )
