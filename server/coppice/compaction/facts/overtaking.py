"""Whether what was written still holds, by what was changed, committed and written since."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from coppice.compaction.text.names import names_in
from coppice.compaction.text.sentences import QUESTION_MARKS, marked, sentences_of
from coppice.protocol.ledger import Quotation
from coppice.protocol.state import Commit

_REPLIES: Final = ("report", "answer")
_OVERTAKEN: Final = (*_REPLIES, "reason", "publication")
_Key = TypeVar("_Key", str, int)


@dataclass(frozen=True, slots=True)
class Edit:
    """What a call replaced in its files, and what it wrote."""

    files: tuple[str, ...]
    before: str
    after: str

    def replaced(self) -> set[int]:
        """The lines that it replaced, as numbers; blank ones and indentation do not count."""
        return self._lines(self.before)

    def written(self) -> set[int]:
        """The lines that it wrote, likewise."""
        return self._lines(self.after)

    def _lines(self, text: str) -> set[int]:
        lines = {line for line in map(str.strip, text.splitlines()) if line}
        return {hash((file, line)) for line in lines for file in self.files}


class Overtaking:
    """Follows changes, commits and later texts. A reply from before files changed is marked as such. It loses
    the sentences that name what the changes removed. It is dropped where all that it names exactly was named
    again since, by a later reply, a commit or a publication, and an answer where its files were changed and
    committed. A reason is dropped when all lines that its change wrote are removed from their files.
    """

    def __init__(self, quotations: Iterable[Quotation]) -> None:
        self.clock = 0
        """How many calls and messages of the user there were."""
        self.ended_at = 0
        """When the newest turn ended."""
        self._written_at = {id(each): 0 for each in quotations}
        self._dealt_with: set[int] = set()
        self._removed: dict[str, int] = {}
        self._changed: dict[str, int] = {}
        self._told: dict[str, int] = {}
        self._removed_lines: dict[int, int] = {}
        self._wrote: dict[int, set[int]] = {}
        self._committed_at: dict[str, int] = {}
        self._changed_at = 0

    def begin(self, quotation: Quotation, edits: Iterable[Edit] = ()) -> None:
        """Follows `quotation`, which was written now; `edits` are what it gives reasons for."""
        self._written_at[id(quotation)] = self.clock
        self._wrote[id(quotation)] = {line for edit in edits for line in edit.written() - edit.replaced()}

    def deal_with(self, quotation: Quotation) -> None:
        """The next change deals with what `quotation` proposes."""
        self._dealt_with.add(id(quotation))

    def commit(self, entry: str) -> None:
        """A commit was made."""
        self._committed_at[entry] = self.clock

    def change(self, files: Iterable[str], edit: Edit) -> None:
        """Files of these names were changed."""
        self._changed_at = self.clock
        self._changed |= dict.fromkeys(files, self.clock)
        for line in edit.written() & self._removed_lines.keys():
            del self._removed_lines[line]
        self._removed_lines |= dict.fromkeys(edit.replaced() - edit.written(), self.clock)
        old, new = _names(edit.before), _names(edit.after)
        for name in new & self._removed.keys():
            del self._removed[name]
        self._removed |= dict.fromkeys(old - new, self.clock)

    def tell(self, *texts: str) -> None:
        """What these texts name was named again."""
        self._told |= dict.fromkeys(_names("\n".join(texts)), self.clock)

    def commit_after(self, clock: int, commits: Iterable[Commit]) -> str:
        """The first of `commits` that was made after `clock` and in a turn that has ended; else empty."""
        return next((name for at, name in self.made(commits) if clock < at <= self.ended_at), "")

    def made(self, commits: Iterable[Commit]) -> list[tuple[int, str]]:
        """When each of `commits` was made, where that was seen, and its hash or subject; oldest first."""
        made = ((self._committed_at.get(each.entry_id, 0), each) for each in commits)
        return sorted((at, each.hash or f"“{each.subject}”") for at, each in made if at)

    def holding(self, quotation: Quotation, made: Sequence[tuple[int, str]]) -> Quotation | None:
        """`quotation` as it holds now, marked where files that changed may have overtaken it."""
        at = self._written_at.get(id(quotation), self.clock)
        if quotation.kind not in _OVERTAKEN or self._changed_at <= at:
            return quotation
        kind = quotation.kind
        names = _names(_without(quotation.text, lambda sentence: sentence.endswith(QUESTION_MARKS)))
        wrote = self._wrote.get(id(quotation), set())
        first = bisect_right(made, at, key=lambda each: each[0])
        commit = quotation.before_commit or (made[first][1] if first < len(made) else "")
        undone = bool(wrote) and _since(at, wrote, self._removed_lines) == wrote
        is_one = kind == "report" and len(names) == 1  # a later report names it again, whatever it says
        told = kind in _REPLIES and not is_one and _since(at, names, self._told) == names
        settled = kind == "answer" and commit and _since(at, names, self._changed)
        if undone or told or settled or id(quotation) in self._dealt_with:
            return None
        text = _without(quotation.text, lambda sentence: bool(_since(at, _names(sentence), self._removed)))
        if not text or (kind == "reason" and text != quotation.text):
            return None
        text = text if text.split() == quotation.text.split() else marked(text)
        update = {"text": text, "overtaken": kind in _REPLIES, "before_commit": commit}
        return quotation.model_copy(update=update)


def _since(at: int, names: set[_Key], times: Mapping[_Key, int]) -> set[_Key]:
    """Those of `names` whose time is after `at`."""
    return {name for name in names if times.get(name, 0) > at}


def _names(text: str) -> set[str]:
    """What a text names exactly; of a path the name of the file, without the line in it."""
    return {name.rpartition("/")[2] for name in names_in(text.replace(":", " "))} - {""}


def _without(text: str, is_dropped: Callable[[str], bool]) -> str:
    """`text` without some of its sentences. A line keeps its indentation and marker."""
    lines: list[str] = []
    for line in text.splitlines():
        sentences = list(sentences_of(line))
        rest = [sentence for sentence in sentences if not is_dropped(sentence)]
        if len(rest) == len(sentences):
            lines.append(line)
        elif rest:
            lines.append(line[: max(0, line.find(sentences[0]))] + " ".join(rest))
    return "\n".join(lines).strip()
