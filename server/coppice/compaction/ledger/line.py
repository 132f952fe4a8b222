"""One statement of a ledger that is written out, and how paths and phrases read in it."""

from dataclasses import dataclass
from typing import Final, Literal, Self, get_args

from coppice.compaction.phrases import Phrases, phrases_for
from coppice.compaction.text.paths import without_common_root
from coppice.protocol.ledger import WorkLedger

Section = Literal[
    "goal", "constraints", "done", "in_progress", "blocked", "decisions", "next_steps", "context"
]
SECTIONS: Final[tuple[Section, ...]] = get_args(Section)


@dataclass(frozen=True, slots=True)
class Line:
    """`order` is its place within its section; `entry` the entry that it is based on.

    Lines of one `group` are written together after its name. A `verbatim` line is written although
    another one says the same in other words. A text that names all `keys` states the line.
    """

    section: Section
    text: str
    priority: float
    order: float
    entry: str = ""
    referable: bool = False
    group: str = ""
    verbatim: bool = False
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Writing:
    """What the lines of one ledger are written with. `names` are the paths as they read in the summary."""

    ledger: WorkLedger
    phrases: Phrases
    names: dict[str, str]

    @classmethod
    def of(cls, ledger: WorkLedger) -> Self:
        """In the language of the ledger's requests, paths without their common root."""
        typed = [request.text for request in ledger.requests if request.kind == "request"]
        paths = [file.path for file in ledger.uncommitted]
        paths += [path for commit in ledger.commits for path in commit.files]
        paths += [path for problem in ledger.problems for path in problem.fix]
        return cls(ledger, phrases_for(typed), without_common_root(list(dict.fromkeys(paths))))

    def named(self, path: str) -> str:
        """A path as it reads in the summary."""
        return self.names.get(path, path)
