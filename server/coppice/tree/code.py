"""Text between backticks in Markdown: more of them than it has, so that it cannot end there."""

import re
from typing import Final

_BACKTICKS: Final = re.compile(r"`++")


def fence_of(text: str) -> str:
    """The fence around `text`: longer than any run of backticks in it."""
    return "`" * max(3, _longest_run(text) + 1)


def code_span(text: str) -> str:
    """`text` as code within a line."""
    ticks = "`" * (_longest_run(text) + 1)
    return f"{ticks} {text} {ticks}" if len(ticks) > 1 else f"{ticks}{text}{ticks}"


def _longest_run(text: str) -> int:
    return max((len(run[0]) for run in _BACKTICKS.finditer(text)), default=0)
