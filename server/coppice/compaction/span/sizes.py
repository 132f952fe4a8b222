"""The sizes a compaction works with, fitted to the model's window."""

from dataclasses import dataclass
from typing import Final

from coppice.settings import CompactionSettings

SUMMARY_SHARE: Final = 0.8
"""Of the reserve, for a summary. Pi 0.73.1."""

TURN_PREFIX_SHARE: Final = 0.5
"""Of the reserve, for the summary of a turn's early part. Pi 0.73.1."""

_WINDOW_SHARE: Final = 0.9  # share of the window for reserve, kept part and summary (guess)

SMALLEST_ANSWER: Final = 4_096
"""Tokens that a window of 64k or more keeps free for the answer: 1,766 of 1,773 recorded replies fit."""

_ANSWER_SHARE: Final = 1 / 16
"""Of a smaller window, for the same: at 64k it is `SMALLEST_ANSWER`."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """In tokens. A request of more than `threshold` calls for a compaction."""

    window: int
    reserve: int
    keep_recent: int
    max_summary: int
    max_turn_prefix: int

    @property
    def threshold(self) -> int:
        """Tokens of a view above which a compaction is due."""
        return self.window - self.reserve


def smallest_reserve(window: int) -> int:
    """The tokens that are kept free for an answer, however small `compaction.reserveTokens` is."""
    return max(1, min(SMALLEST_ANSWER, int(_ANSWER_SHARE * window)))


def fitted_sizes(settings: CompactionSettings, window: int) -> Sizes:
    """The configured sizes, with a reserve that an answer fits in, scaled down together to fit the window.

    Reserve, kept part and summary may take nine tenths of the window, so that what a compaction leaves
    always lies below the threshold. The reserve is never scaled below `smallest_reserve`.
    """
    smallest, most = smallest_reserve(window), _WINDOW_SHARE * window
    reserve = max(settings.reserve_tokens, smallest)
    keep = settings.keep_recent_tokens
    summary = settings.max_summary_tokens or int(SUMMARY_SHARE * reserve)
    scale = min(1.0, most / (reserve + keep + summary))
    free = max(smallest, int(reserve * scale))
    scale = min(scale, (most - free) / (keep + summary))
    return Sizes(
        window=window,
        reserve=free,
        keep_recent=max(1, int(keep * scale)),
        max_summary=max(1, int(summary * scale)),
        max_turn_prefix=max(1, int(min(TURN_PREFIX_SHARE * reserve, summary) * scale)),
    )
