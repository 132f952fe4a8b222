"""How far long work is, shown to whoever waits for it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from typing_extensions import override

from coppice.protocol.base import WireModel


class Progress(Protocol):
    """How far a long job is, as one client sees it. Never raises and never waits.

    `begin` comes first and once, `end` last and once. Percentages run from 0 to 100 and never fall.
    `partial` is a piece of the result, for methods that have such pieces. `nested` is the progress of a step
    that the client shows as one of its own.
    """

    def begin(self, title: str) -> None:
        """Begin, once, with a title for a person."""

    def report(self, stage: str, percentage: int) -> None:
        """Report the stage and how far the job is."""

    def end(self, message: str) -> None:
        """End, once, with the outcome."""

    def partial(self, value: WireModel) -> None:
        """Send a piece of the result."""

    def nested(self) -> "Progress":
        """A progress for a step that is shown by itself."""


class NoProgress:
    """Shows nothing."""

    def begin(self, title: str) -> None:
        """Do nothing."""

    def report(self, stage: str, percentage: int) -> None:
        """Do nothing."""

    def end(self, message: str) -> None:
        """Do nothing."""

    def partial(self, value: WireModel) -> None:
        """Do nothing."""

    def nested(self) -> Progress:
        """Nothing either."""
        return NoProgress()


ProgressOf = Callable[[asyncio.Task[Any]], Progress]
"""A progress for work that no request waits for; a client that cancels it cancels the task."""


def no_progress(_task: asyncio.Task[Any]) -> Progress:
    """A progress that nobody sees."""
    return NoProgress()


class LateProgress(NoProgress):
    """Shown from the first report on: for work that seldom takes long enough to be shown."""

    def __init__(self, shown: Progress) -> None:
        self._shown = shown
        self._title = ""
        self._is_begun = False

    @override
    def begin(self, title: str) -> None:
        self._title = title

    @override
    def report(self, stage: str, percentage: int) -> None:
        if not self._is_begun:
            self._is_begun = True
            self._shown.begin(self._title)
        self._shown.report(stage, percentage)

    @override
    def end(self, message: str) -> None:
        if self._is_begun:
            self._shown.end(message)


@dataclass
class JobProgress:
    """One job's progress, shown to every client that waits for it; one that joins late is shown the last."""

    title: str
    watchers: list[Progress] = field(default_factory=list)
    _last: tuple[str, int] | None = None

    def join(self, watcher: Progress) -> None:
        """Show the progress to one more client, from where it is."""
        self.watchers.append(watcher)
        watcher.begin(self.title)
        if self._last is not None:
            watcher.report(*self._last)

    def report(self, stage: str, percentage: int) -> None:
        """Report to every client; a percentage never falls."""
        self._last = (stage, max(percentage, self._last[1] if self._last else 0))
        for watcher in self.watchers:
            watcher.report(*self._last)

    def partial(self, value: WireModel) -> None:
        """Send a piece of the result to every client."""
        for watcher in self.watchers:
            watcher.partial(value)

    def end(self, message: str) -> None:
        """End the progress of every client."""
        for watcher in self.watchers:
            watcher.end(message)
        self.watchers.clear()

    def nested(self) -> list[Progress]:
        """A progress for a step of its own, for each client that waits."""
        return [watcher.nested() for watcher in self.watchers]


class StepProgress(JobProgress):
    """A step of a job that goes on when the step has ended.

    Its stages are the job's. A step with a title that is not the job's is shown by itself as well.
    """

    def __init__(self, job: JobProgress, title: str | None = None) -> None:
        super().__init__(title or job.title)
        self.job = job
        if self.title != job.title:
            for watcher in job.nested():
                self.join(watcher)

    def report(self, stage: str, percentage: int) -> None:
        """Report to the step's own clients and to the job's."""
        super().report(stage, percentage)
        self.job.report(stage, percentage)

    def partial(self, value: WireModel) -> None:
        """Send a piece of the job's result."""
        self.job.partial(value)

    def nested(self) -> list[Progress]:
        """A progress for a further step, for each client of the job."""
        return self.job.nested()

    def end(self, message: str) -> None:
        """End the step; the job goes on."""
        super().end(message)
        self.job.report(message, 0)

    def close(self) -> None:
        """Ends what the step shows by itself, if it has not ended."""
        super().end("Stopped")
