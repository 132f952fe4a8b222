"""Counts file events of one turn once where a tool, the editor and the watcher report the same one."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from coppice.files.paths import is_within
from coppice.tree.entries import FileSource

Touch = Literal["reads", "writes"]


@dataclass(slots=True)
class TouchCounter:
    """The reads and writes of each path that each source has reported since the last user message.

    The count of a path is the largest count of any one source. So a write that several sources report is
    counted once, in whatever order the reports come.
    """

    _reported: dict[tuple[str, Touch], Counter[FileSource]] = field(default_factory=dict)
    _moves: list[tuple[str, str]] = field(default_factory=list)

    def count(self, path: str, touch: Touch, source: FileSource) -> int:
        """Counts one report of `source`; returns the increase of the path's count, 1 or 0."""
        reports = self._reported.setdefault((path, touch), Counter())
        before = _most(reports)
        reports[source] += 1
        return _most(reports) - before

    def merge(self, old: str, new: str, touch: Touch) -> int:
        """Adds the reports of `old` to those of `new`; returns the counts' sum minus the joint count."""
        counts = [self._reported.pop((path, touch), Counter()) for path in (old, new)]
        both = self._reported[new, touch] = counts[0] + counts[1]
        return sum(map(_most, counts)) - _most(both)

    def note_move(self, old: str, new: str) -> None:
        """Records that the file or folder `old` was renamed to `new`."""
        self._moves.append((old, new))

    def was_moved_from(self, path: str) -> bool:
        """Whether `path` was renamed, alone or with its folder; its deletion is part of that."""
        return any(is_within(path, old) for old, _ in self._moves)

    def was_moved_to(self, path: str) -> bool:
        """Whether `path` is the target of a rename, its own or its folder's; its creation is part of that."""
        return any(is_within(path, new) for _, new in self._moves)


def _most(reports: Counter[FileSource]) -> int:
    return max(reports.values(), default=0)
