"""Long work that a person can watch and stop."""

from typing import Protocol


class Progress(Protocol):
    """Where a long job says how far it is. Never raises and never waits.

    `begin` comes first and once, `end` last and once. Percentages run from 0 to 100 and never fall.
    """

    def begin(self, title: str) -> None: ...

    def report(self, stage: str, percentage: int) -> None: ...

    def end(self, message: str) -> None: ...


class NoProgress:
    """Nobody watches."""

    def begin(self, title: str) -> None:
        del title

    def report(self, stage: str, percentage: int) -> None:
        del stage, percentage

    def end(self, message: str) -> None:
        del message
