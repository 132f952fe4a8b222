"""What all hooks together answer to one question.

The last summary counts, and so does the last label; instructions are added up.
"""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from coppice.protocol.hooks import HookCompaction, HookSummary, WillCompactResult, WillNavigateResult

Given = TypeVar("Given", HookCompaction, HookSummary)


@dataclass(frozen=True)
class GivenSummary(Generic[Given]):
    """A summary that the hook of that name wants stored."""

    hook: str
    summary: Given


@dataclass
class CompactionAnswer:
    """What the hooks made of a compaction; `problems` are sentences about hooks that were skipped."""

    instructions: str | None
    given: GivenSummary[HookCompaction] | None = None
    problems: list[str] = field(default_factory=list)

    def add(self, hook: str, answer: WillCompactResult) -> None:
        """Take in the answer of the next hook."""
        self.instructions = both(self.instructions, answer.instructions)
        if answer.compaction is not None:
            self.given = GivenSummary(hook, answer.compaction)


@dataclass
class NavigationAnswer:
    """The hooks' answers to a navigation. With `replace_instructions` theirs replace all others."""

    instructions: str | None = None
    replace_instructions: bool = False
    given: GivenSummary[HookSummary] | None = None
    label: str | None = None
    problems: list[str] = field(default_factory=list)

    def add(self, hook: str, answer: WillNavigateResult) -> None:
        """Take in the answer of the next hook."""
        if answer.replace_instructions and (answer.instructions or "").strip():
            self.instructions, self.replace_instructions = answer.instructions, True
        else:
            self.instructions = both(self.instructions, answer.instructions)
        if answer.summary is not None:
            self.given = GivenSummary(hook, answer.summary)
        self.label = answer.label or self.label


def both(first: str | None, second: str | None) -> str | None:
    """Two instructions as one."""
    parts = [part.strip() for part in (first, second) if part and part.strip()]
    return "\n\n".join(parts) or None
