"""Progress on standard error: a bar on a terminal, lines in a pipe."""

import asyncio
import re
import sys
import time
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, TaskID, TaskProgressColumn, TextColumn
from rich.progress import Progress as Bar
from typing_extensions import override

from coppice.cli.plain import plain_line
from coppice.service.core.progress import NoProgress, Progress

_TITLE: Final = "{task.fields[title]}"
_STAGE: Final = "{task.fields[stage]}"
_NUMBER: Final = re.compile(r"[\d,]+")
_QUICK_SECONDS: Final = 3.0  # about the longest that a person waits without wondering
_SECONDS_WITHIN_A_STEP: Final = 1.0  # seconds between two lines of one step, which are read in a log


class BarProgress(NoProgress):
    """A bar while the work lasts; then a line with how it ended."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._title = ""
        columns = (
            TextColumn(_TITLE, style="bold", markup=False),
            BarColumn(bar_width=30),
            TaskProgressColumn(),
            TextColumn(_STAGE, markup=False),
        )
        self._bar = Bar(*columns, console=console, transient=True)
        self._task: TaskID | None = None

    @override
    def begin(self, title: str) -> None:
        self._title = plain_line(title)
        self._task = self._bar.add_task("", total=100, title=self._title, stage="")
        self._bar.start()

    @override
    def report(self, stage: str, percentage: int) -> None:
        if self._task is not None:
            self._bar.update(self._task, completed=percentage, stage=plain_line(stage))

    @override
    def end(self, message: str) -> None:
        if self._task is not None:
            self._bar.stop()
            self._bar.remove_task(self._task)
            self._task = None
            self._console.print(f"{self._title}: {plain_line(message)}")


class LineProgress(NoProgress):
    """`Compacting: Summarizing (20 %)`, a line for each step and at most one a second within a step.

    Steps differ in their words, numbers aside.
    """

    def __init__(self) -> None:
        self._title = ""
        self._step = ""
        self._written_at = 0.0

    @override
    def begin(self, title: str) -> None:
        self._title = title
        self._write(f"{title} …")

    @override
    def report(self, stage: str, percentage: int) -> None:
        now, step = time.monotonic(), _NUMBER.sub("", stage)
        if step != self._step or now - self._written_at >= _SECONDS_WITHIN_A_STEP:
            self._step, self._written_at = step, now
            self._write(f"{self._title}: {stage} ({percentage} %)")

    @override
    def end(self, message: str) -> None:
        self._write(f"{self._title}: {message}")

    def _write(self, line: str) -> None:
        sys.stderr.write(f"{plain_line(line)}\n")
        sys.stderr.flush()


class DelayedProgress(NoProgress):
    """Shown when the work has lasted for `_QUICK_SECONDS`, also where it reports nothing."""

    def __init__(self, shown: Progress) -> None:
        self._shown = shown
        self._begins: asyncio.TimerHandle | None = None
        self._is_begun = False

    @override
    def begin(self, title: str) -> None:
        self._begins = asyncio.get_running_loop().call_later(_QUICK_SECONDS, self._begin, title)

    @override
    def report(self, stage: str, percentage: int) -> None:
        if self._is_begun:
            self._shown.report(stage, percentage)

    @override
    def end(self, message: str) -> None:
        if self._is_begun:
            self._shown.end(message)
        elif self._begins is not None:
            self._begins.cancel()

    def _begin(self, title: str) -> None:
        self._is_begun = True
        self._shown.begin(title)


def watched(console: Console) -> BarProgress | LineProgress:
    """Progress as `console` can show it."""
    return BarProgress(console) if console.is_terminal else LineProgress()
