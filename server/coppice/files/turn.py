"""One turn as two sides see it: what a tool did, an editor or a watcher often reports too."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from coppice.tree.entries import FileSource

Touch = Literal["reads", "writes"]


@dataclass(slots=True)
class Turn:
    """What each side saw of each path since the user last spoke.

    A path was touched as often as the side says that saw it most often. So a write counts once, whichever
    side tells it first, and however many tell it.
    """

    _seen: dict[tuple[str, Touch], Counter[FileSource]] = field(default_factory=dict)
    _moves: list[tuple[str, str]] = field(default_factory=list)

    def count(self, path: str, touch: Touch, source: FileSource) -> int:
        """How many touches more there are now that `source` saw one: 1, or 0 when they were known."""
        seen = self._seen.setdefault((path, touch), Counter())
        known = _most(seen)
        seen[source] += 1
        return _most(seen) - known

    def merge(self, old: str, new: str, touch: Touch) -> int:
        """What was seen of `old` was seen of `new`; how many touches of the two were one."""
        known = [self._seen.pop((path, touch), Counter()) for path in (old, new)]
        both = self._seen[new, touch] = known[0] + known[1]
        return sum(map(_most, known)) - _most(both)

    def moved(self, old: str, new: str) -> None:
        """The file or folder `old` is called `new` now."""
        self._moves.append((old, new))

    def left(self, path: str) -> bool:
        """Whether what was at `path` went elsewhere, so that its end there is no news."""
        return any(_within(path, old) for old, _ in self._moves)

    def arrived(self, path: str) -> bool:
        """Whether `path` came with a folder from elsewhere, so that its beginning there is no news."""
        return any(_within(path, new) for _, new in self._moves)


def _most(seen: Counter[FileSource]) -> int:
    return max(seen.values(), default=0)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
