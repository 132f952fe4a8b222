"""The warnings of an import, bounded in number."""

from dataclasses import dataclass, field
from typing import Final

WARNINGS_OF_A_KIND: Final = 100
"""How many warnings of one kind are listed; the rest are counted: a damaged file has as many as lines."""


@dataclass
class _Kind:
    listed: list[tuple[int, str]] = field(default_factory=list)
    more_from: int = 0
    more: int = 0


class WarningLog:
    """Collects warnings by line number, counted from 1."""

    def __init__(self) -> None:
        self._kinds: dict[str, _Kind] = {}

    def add(self, line: int, kind: str, text: str) -> None:
        """Notes `text` about `line`. `kind` names in a few words what all such warnings are about."""
        of_kind = self._kinds.setdefault(kind, _Kind())
        if len(of_kind.listed) < WARNINGS_OF_A_KIND:
            of_kind.listed.append((line, text))
            return
        of_kind.more_from = of_kind.more_from or line
        of_kind.more += 1

    def warnings(self) -> list[tuple[int, str]]:
        """The warnings with their lines."""
        listed = [warning for kind in self._kinds.values() for warning in kind.listed]
        counted = [
            (kind.more_from, f"… and {kind.more:,} more of this kind from here on ({name})")
            for name, kind in self._kinds.items()
            if kind.more
        ]
        return [*listed, *counted]


def as_sentences(*logs: WarningLog) -> list[str]:
    """All warnings of `logs` by line, each as `line N: …`."""
    merged = sorted((item for log in logs for item in log.warnings()), key=lambda warning: warning[0])
    return [f"line {line}: {text}" for line, text in merged]
