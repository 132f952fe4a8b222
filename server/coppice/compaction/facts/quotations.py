"""Quotations of the assistant, chosen by their place: reports, answers, causes, reasons, plans."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeVar

from coppice.compaction.actions.action import Action, Run
from coppice.compaction.facts.documents import Documents
from coppice.compaction.facts.publications import Publications
from coppice.compaction.facts.runners import check_words, only_looks
from coppice.compaction.facts.usage import LEFT_OUT
from coppice.compaction.text.answers import is_answer, is_bare
from coppice.compaction.text.markdown import CODE, ITEM
from coppice.compaction.text.names import names_in
from coppice.compaction.text.paths import is_about_work
from coppice.compaction.text.reasons import is_reason, reason_in, reasons_in
from coppice.compaction.text.sentences import (
    QUESTION_MARKS,
    clip,
    ended,
    marked,
    one_line,
    sentences_of,
    whole_sentences,
)
from coppice.protocol.ledger import Quotation, QuotationKind
from coppice.protocol.state import Commit

_REPORT_CHARS: Final = 6_000
"""Characters of a report that are stored; the longest recorded one that ends a turn has 5,200."""
_LAST_SENTENCES: Final = 3  # of a reply, among which its question is
_MOST_NAMED: Final = 3  # files that were changed for an announcement
_MOST_PLANNED: Final = 8  # files that were changed since a plan
_LEAST_STEPS: Final = 2  # of a plan
_CAUSE_CHARS: Final = 600  # characters of a reply between calls; 95 % of the recorded ones have fewer
_ANSWER_CHARS: Final = 400
"""Characters of a message that answers; a longer one is a request of its own."""
_NAME_CHARS: Final = 200  # of a request before its reply
_MOST_TEXTS: Final = 3  # the newest between two changes that may be about the second one
_WRITTEN_CHARS: Final = 160  # characters of a change that is quoted: two lines of code
_EDIT_CHARS: Final = 100_000
"""Characters of an edit that are compared."""
_MOST_EDITS: Final = 5  # after one announcement, the first
_REPLIES: Final = ("report", "answer")
_OVERTAKEN: Final = (*_REPLIES, "reason", "publication")
_Key = TypeVar("_Key", str, int)


@dataclass(frozen=True, slots=True)
class _Edit:
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


class Quotations:
    """Follows what the assistant writes in a turn. A reply from before files changed is marked as such. It
    loses the sentences that name what the changes removed. It is dropped where all that it names exactly was
    named again since, by a later reply, a commit or a publication, and an answer where its files were changed
    and committed. A reason is dropped when all lines that its change wrote are removed from their files.
    """

    def __init__(self, quotations: list[Quotation]) -> None:
        self._announced = [(each, "") for each in quotations[-1:] if each.kind == "announcement"]
        self._plan = next((each for each in quotations if each.kind == "plan" and not each.overtaken), None)
        self._quotations = {
            id(each): each for each in quotations if each.kind not in ("plan", "announcement")
        }
        self._inherited = {id(each): each for each in quotations}
        self._documents = Documents(self._quotations)
        self._publications = Publications()
        self._written_at = {id(each): 0 for each in quotations}
        self._dealt_with: set[int] = set()
        self._removed: dict[str, int] = {}
        self._changed: dict[str, int] = {}
        self._told: dict[str, int] = {}
        self._removed_lines: dict[int, int] = {}
        self._edits: list[_Edit] = []
        self._listed: Quotation | None = None
        self._wrote: dict[int, set[int]] = {}
        self._committed_at: dict[str, int] = {}
        self._clock = 0
        self._changed_at = 0
        self._ended_at = 0
        self._turn_changed = False
        self._asked = ""
        self._question = ""
        self._reply = Quotation(text="", kind="answer")
        self._failing = ""
        self._causes = {each.about: each for each in quotations if each.kind == "cause"}

    def user(self, text: str) -> None:
        """The user's next message: it answers the question before, where there is one."""
        if self._question and len(text) <= _ANSWER_CHARS and is_answer(text):
            entry, answer = self._reply.entry_id, one_line(text)
            self._dealt_with.add(id(self._reply))  # by the next change
            self._add(Quotation(entry_id=entry, text=self._question, kind="approval", about=answer))
            if is_bare(text) and (reasons := " ".join(map(ended, reasons_in(self._reply.text)))):
                reasons = whole_sentences(reasons, _CAUSE_CHARS)
                self._add(Quotation(entry_id=entry, text=reasons, kind="reason"))
        self._explain()
        self._plan = None
        self._clock += 1
        self._ended_at = self._clock
        self._question, self._turn_changed = "", False
        if not text.startswith("/"):
            self._asked = clip(one_line(text), _NAME_CHARS)
        self._documents.user(text)

    def assistant(self, text: str, entry: str, *, last: bool) -> None:
        """A reply; `last` ends the turn. Before calls a text is narration, but for the cause of a failure."""
        text = text.strip()
        if not text:
            return
        if last:
            self._end_turn(text, entry)
            return
        stated = clip(one_line(text), _CAUSE_CHARS)
        if not self._announced or self._announced[-1][0].about:
            self._explain()
        announced = Quotation(entry_id=entry, text=stated, kind="announcement")
        lists = _steps(text) >= _LEAST_STEPS
        begins = self._clock == self._ended_at and len(list(sentences_of(text))) > 1
        if (lists or begins) and not text.endswith(QUESTION_MARKS):
            self._plan = Quotation(entry_id=entry, text=clip(text, _REPORT_CHARS), kind="plan")
            self._listed = announced if lists else None
        after = self._failing or (self._announced[-1][1] if self._announced else "")
        self._announced = [*self._announced[1 - _MOST_TEXTS :], (announced, after)]
        if self._failing:
            self._settle(self._failing)
            cause = Quotation(entry_id=entry, text=stated, kind="cause", about=self._failing)
            self._causes[self._failing] = cause
            self._add(cause)
        self._failing = ""

    def refused(self, entry: str) -> None:
        """A call of this reply was not allowed: what it announced was not done."""
        self._announced = [(each, after) for each, after in self._announced if each.entry_id != entry]
        for command in [about for about, cause in self._causes.items() if entry and cause.entry_id == entry]:
            self._settle(command)

    def _explain(self) -> None:
        """What was announced before files changed gives their reasons; what led to no change is gone."""
        announced, self._announced = self._announced, []
        edits, self._edits = self._edits, []
        if not announced or not (about := announced[-1][0].about):
            return
        newest, after = announced[-1]
        texts = [
            _without_undone(reason_in(each.text, after_failure=bool(failed)), each.text, about, edits)
            for each, failed in announced
            if each is not self._listed
        ]
        if not any(texts):
            return
        written = next(filter(None, map(_short_change, edits)), "")
        about = f"{about} (written: `{written}`)" if written else about
        about = f"{about} after `{after}` failed" if after else about
        reason = Quotation(
            entry_id=newest.entry_id, text=" ".join(filter(None, texts)), kind="reason", about=about
        )
        self._wrote[id(reason)] = {line for edit in edits for line in edit.written() - edit.replaced()}
        self._add(reason)

    def _end_turn(self, text: str, entry: str) -> None:
        """What ends a turn also tells what came of its failures."""
        ends = list(sentences_of(text[-2_000:]))[-_LAST_SENTENCES:]
        self._question = next((each for each in reversed(ends) if each.endswith(QUESTION_MARKS)), "")
        self._explain()
        self._plan = None
        self._ended_at = self._clock
        for command in list(self._causes):
            self._settle(command)
        if self._turn_changed and not self._question:
            self._documents.clear()
        kind: QuotationKind = "report" if self._turn_changed else "answer"
        self._reply = Quotation(entry_id=entry, text=clip(text, _REPORT_CHARS), kind=kind, about=self._asked)
        self._add(self._reply)
        self._tell(self._reply.text)

    def action(self, action: Action) -> None:
        """A call: what its edit touches, and the documents that it shows."""
        self._clock += 1
        ran = (run.command for run in action.runs if run.succeeded is not False)
        commits = [command for command in ran if command.runs("git", "commit")]
        if commits:
            self._committed_at[action.entry] = self._clock
        published = list(self._publications.take(action))
        self._tell(*map(str, commits), *(each.text for each in published))
        paths = [each.path for each in action.touches if each.kind != "read" and is_about_work(each.path)]
        changed = [path.rpartition("/")[2] for path in paths]
        if changed:
            self._changed_at, self._turn_changed = self._clock, True
            self._changed |= dict.fromkeys(changed, self._clock)
            edit = _Edit(tuple(paths[:_MOST_PLANNED]), _text_of(action.old), _text_of(action.new))
            self._edits = [*self._edits, edit][: _MOST_EDITS + 1]
            for line in edit.written() & self._removed_lines.keys():
                del self._removed_lines[line]
            self._removed_lines |= dict.fromkeys(edit.replaced() - edit.written(), self._clock)
            old, new = _names(edit.before), _names(edit.after)
            for name in new & self._removed.keys():
                del self._removed[name]
            self._removed |= dict.fromkeys(old - new, self._clock)
        elif any(map(_ends_step, action.runs)):
            self._announced = [each for each in self._announced if each[0].about]
        followed = [(each, _MOST_NAMED) for each, _ in self._announced]
        for each, most in [*followed, *([(self._plan, _MOST_PLANNED)] if self._plan else [])]:
            files = dict.fromkeys([*filter(None, each.about.split(", ")), *changed])
            each.about = ", ".join(list(files)[:most])
        for quotation in [*self._documents.take(action), *published]:
            self._add(quotation)

    def checks(self, failed: Sequence[str], settled: Iterable[str]) -> None:
        """Checks that just failed, and that a pass has settled: a failure waits for its cause."""
        for command in settled:
            self._settle(command)
            self._failing = "" if command == self._failing else self._failing
        for command in failed[-1:]:
            self._failing = command

    def write(self, commits: Iterable[Commit] = (), *, inherited: bool = False) -> list[Quotation]:
        """The quotations that still hold, oldest first, of an unfinished turn what it planned and announced
        last; only those that this began with, when they are `inherited`.
        """
        made = self._made(commits)
        quoted = filter(
            None, (*self._quotations.values(), self._plan, *(each for each, _ in self._announced[-1:]))
        )
        chosen = (each for each in quoted if not inherited or id(each) in self._inherited)
        held = (self._holding(each, made) for each in chosen)
        return [each.model_copy() for each in held if each is not None]

    @property
    def clock(self) -> int:
        """How many calls and messages of the user there were."""
        return self._clock

    def commit_after(self, clock: int, commits: Iterable[Commit]) -> str:
        """The first of `commits` that was made after `clock` and in a turn that has ended; else empty."""
        return next((name for at, name in self._made(commits) if clock < at <= self._ended_at), "")

    def _made(self, commits: Iterable[Commit]) -> list[tuple[int, str]]:
        """When each of `commits` was made, where that was seen, and its hash or subject; oldest first."""
        made = ((self._committed_at.get(each.entry_id, 0), each) for each in commits)
        return sorted((at, each.hash or f"“{each.subject}”") for at, each in made if at)

    def _holding(self, quotation: Quotation, made: Sequence[tuple[int, str]]) -> Quotation | None:
        """`quotation` as it holds now, marked where files that changed may have overtaken it."""
        at = self._written_at.get(id(quotation), self._clock)
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

    def _tell(self, *texts: str) -> None:
        """What these name was named again."""
        self._told |= dict.fromkeys(_names("\n".join(texts)), self._clock)

    def _settle(self, command: str) -> None:
        if cause := self._causes.pop(command, None):
            del self._quotations[id(cause)]

    def _add(self, quotation: Quotation) -> None:
        self._quotations[id(quotation)] = quotation
        self._written_at[id(quotation)] = self._clock


def _since(at: int, names: set[_Key], times: Mapping[_Key, int]) -> set[_Key]:
    """Those of `names` whose time is after `at`."""
    return {name for name in names if times.get(name, 0) > at}


def _names(text: str) -> set[str]:
    """What a text names exactly; of a path the name of the file, without the line in it."""
    return {name.rpartition("/")[2] for name in names_in(text.replace(":", " "))} - {""}


def _ends_step(run: Run) -> bool:
    """Whether what was written before this command, where no file has changed, is about it or dealt with."""
    words = run.command.words
    return run.succeeded is True if check_words(words) else not only_looks(words)


def _text_of(texts: Sequence[str]) -> str:
    return "\n".join(texts)[:_EDIT_CHARS]


def _short_change(edit: _Edit) -> str:
    """The lines that an edit wrote anew, on one line, where they are short; with marks for others between."""
    before = set(edit.before.splitlines())
    lines = groupby(filter(str.strip, edit.after.splitlines()), key=lambda line: line in before)
    parts = [LEFT_OUT if unchanged else "\n".join(written) for unchanged, written in lines]
    written = one_line("\n".join(parts)).strip(f"{LEFT_OUT} ")
    return written if len(written) <= _WRITTEN_CHARS and "`" not in written else ""


def _without_undone(reason: str, text: str, about: str, edits: Sequence[_Edit]) -> str:
    """`reason` without the last sentence of `text`, where that tells what is to be done and none of `edits`
    has the code that it names: it was done otherwise, or elsewhere. What edits wrote is not always seen.
    """
    last = next(reversed(list(sentences_of(text))), "")
    code = [each.strip("`").partition("(")[0].rpartition("/")[2] for each in CODE.findall(last)]
    is_seen = len(edits) <= _MOST_EDITS and all(edit.before or edit.after for edit in edits)
    if not code or not is_seen or is_reason(last):
        return reason
    done = [about, *(edit.before for edit in edits), *(edit.after for edit in edits)]
    if any(each in part for each in code for part in done):
        return reason
    return reason.removesuffix(last).rstrip()


def _steps(text: str) -> int:
    """The numbered items of `text`."""
    items = (ITEM.match(line) for line in text.splitlines())
    return sum(item is not None and item[0].lstrip()[0].isdigit() for item in items)


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
