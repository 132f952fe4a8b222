"""The sizes a compaction works with, fitted to the model's window."""

from dataclasses import dataclass
from typing import Final

from coppice.settings import CompactionSettings

SUMMARY_SHARE: Final = 0.8
TURN_PREFIX_SHARE: Final = 0.5
_WINDOW_SHARE: Final = 0.9


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
        return self.window - self.reserve


def fitted_sizes(settings: CompactionSettings, window: int) -> Sizes:
    """The configured sizes, scaled down together where they would not fit the window side by side.

    Reserve, kept tail and summary may take nine tenths of the window, so that what a compaction leaves
    always lies below the threshold.
    """
    reserve = settings.reserve_tokens
    keep = settings.keep_recent_tokens
    summary = settings.max_summary_tokens or int(SUMMARY_SHARE * reserve)
    scale = min(1.0, _WINDOW_SHARE * window / (reserve + keep + summary))
    return Sizes(
        window=window,
        reserve=max(1, int(reserve * scale)),
        keep_recent=max(1, int(keep * scale)),
        max_summary=max(1, int(summary * scale)),
        max_turn_prefix=max(1, int(min(TURN_PREFIX_SHARE * reserve, summary) * scale)),
    )
