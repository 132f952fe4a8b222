"""Quotations of the assistant, chosen by their place in a turn: reports, causes, approvals, announcements."""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

from coppice.compaction.actions.action import Action
from coppice.compaction.facts.documents import Documents
from coppice.compaction.text.lasting import is_answer
from coppice.compaction.text.names import names_in
from coppice.compaction.text.sentences import clip, one_line, sentences_of
from coppice.protocol.ledger import Quotation, QuotationKind

_REPORT_CHARS: Final = 6_000
"""Characters of a report that are stored; the longest recorded one that ends a turn has 5,200."""
_LAST_SENTENCES: Final = 3  # of a reply, among which its question is
_MOST_NAMED: Final = 3  # files that were changed for an announcement
_MOST_ANNOUNCED: Final = 40  # announcements of a turn that has not ended
_MOST_FAILING: Final = 40  # checks that wait for the cause of their failure
_CAUSE_CHARS: Final = 600  # characters of a reply between calls; 95 % of the recorded ones have fewer
_ANSWER_CHARS: Final = 400
"""Characters of a message that answers; a longer one is a request of its own."""
_NAME_CHARS: Final = 200  # of another agent's task, and of a request before its reply
_PROMPT_CHARS: Final = 100
"""Characters of a `prompt` argument from which a tool is another agent."""
_EDIT_CHARS: Final = 100_000
"""Characters of an edit whose names are compared."""


class Quotations:
    """Follows what the assistant writes in a turn. Statements about what a later edit removed are dropped."""

    def __init__(self, quotations: list[Quotation]) -> None:
        self._quotations = {id(each): each for each in quotations}
        self._inherited = dict(self._quotations)
        self._documents = Documents(self._quotations)
        self._written_at = {id(each): 0 for each in quotations}
        self._removed: dict[str, int] = {}
        self._clock = 0
        self._changed_at = 0
        self._turn_changed = False
        self._asked = ""
        self._question = ""
        self._question_entry = ""
        self._announcements: deque[Quotation] = deque(maxlen=_MOST_ANNOUNCED)
        self._failing: list[str] = []
        self._causes: dict[str, list[Quotation]] = {}
        self._newest_cause: Quotation | None = None
        for each in quotations:
            if each.kind == "cause":
                self._causes.setdefault(each.about, []).append(each)

    def user(self, text: str) -> None:
        """The user's next message: it answers the question before, where there is one."""
        if self._question and len(text) <= _ANSWER_CHARS and is_answer(text):
            entry, answer = self._question_entry, one_line(text)
            self._add(Quotation(entry_id=entry, text=self._question, kind="approval", about=answer))
        self._question, self._turn_changed = "", False
        if not text.startswith("/"):
            self._asked = clip(one_line(text), _NAME_CHARS)
        self._announcements.clear()
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
        self._announcements.append(Quotation(entry_id=entry, text=stated, kind="announcement"))
        self._written_at[id(self._announcements[-1])] = self._clock
        for command in self._failing[-1:]:
            self._newest_cause = Quotation(entry_id=entry, text=stated, kind="cause", about=command)
            self._add(self._newest_cause)
            self._causes.setdefault(command, []).append(self._newest_cause)
        self._failing.clear()

    def refused(self, entry: str) -> None:
        """A call of this reply was not allowed: what it announced was not done."""
        kept = [each for each in self._announcements if each.entry_id != entry]
        self._announcements = deque(kept, maxlen=_MOST_ANNOUNCED)
        cause = self._newest_cause
        if entry and cause is not None and cause.entry_id == entry:
            self._newest_cause = None
            self._quotations.pop(id(cause), None)
            if causes := self._causes.get(cause.about):
                causes.pop()

    def _end_turn(self, text: str, entry: str) -> None:
        ends = list(sentences_of(text[-2_000:]))[-_LAST_SENTENCES:]
        self._question = next((each for each in reversed(ends) if each.endswith(("?", "？"))), "")
        self._question_entry = entry
        self._announcements.clear()
        kind: QuotationKind = "report" if self._turn_changed else "proposal" if self._question else "answer"
        self._add(Quotation(entry_id=entry, text=text[:_REPORT_CHARS], kind=kind, about=self._asked))

    def action(self, action: Action) -> None:
        """A call: what its edit removes, the documents that it shows, and what another agent reported."""
        self._clock += 1
        changed = [touch.path.rpartition("/")[2] for touch in action.touches if touch.kind != "read"]
        if changed or any(run.command.runs("git", "commit") for run in action.runs):
            self._changed_at, self._turn_changed = self._clock, True
        if self._announcements and changed:
            announced = self._announcements[-1]
            files = dict.fromkeys([*filter(None, announced.about.split(", ")), *changed])
            announced.about = ", ".join(list(files)[:_MOST_NAMED])
        for document in list(self._documents.take(action)):
            self._add(document)
        prompt = action.arguments.get("prompt")
        if isinstance(prompt, str) and len(prompt) >= _PROMPT_CHARS and not action.failed:
            about = action.arguments.get("description")
            name = one_line(about)[:_NAME_CHARS] if isinstance(about, str) else action.tool
            text = action.output.strip()[:_REPORT_CHARS]
            self._add(Quotation(entry_id=action.entry, text=text, kind="review", about=name))
        if action.old:
            new = set(names_in("\n".join(action.new)[:_EDIT_CHARS]))
            for name in set(names_in("\n".join(action.old)[:_EDIT_CHARS])) - new:
                self._removed[name] = self._clock
            for name in new & self._removed.keys():
                del self._removed[name]

    def checks(self, failed: Sequence[str], settled: Iterable[str]) -> None:
        """Checks that just failed, and that a pass has settled: a failure waits for its cause."""
        self._failing = [*self._failing, *failed][-_MOST_FAILING:]
        for command in settled:
            self._failing = [each for each in self._failing if each != command]
            causes = self._causes.pop(command, [])
            for cause in causes[-1:]:
                cause.kind = "solved"
            for cause in causes[:-1]:  # guesses that did not end it
                cause.text = ""

    def write(self, *, finished: bool) -> list[Quotation]:
        """The quotations that still hold, oldest first; of an unfinished turn what it announced and did."""
        return self._holding_ones(self._quotations.values(), finished=finished)

    def inherited(self, *, finished: bool) -> list[Quotation]:
        """Those among them that this began with."""
        ours = [each for key, each in self._quotations.items() if key in self._inherited]
        return self._holding_ones(ours, finished=finished)

    def _holding_ones(self, quotations: Iterable[Quotation], *, finished: bool) -> list[Quotation]:
        held = [self._holding(each) for each in quotations if each.kind != "announcement"]
        carried_out = [each for each in list(self._announcements)[:-1] if each.about]
        announced = () if finished else map(self._holding, [*carried_out, *list(self._announcements)[-1:]])
        return [*filter(None, held), *filter(None, announced)]

    def _holding(self, quotation: Quotation) -> Quotation | None:
        """`quotation` without sentences that name what was removed since, and whether it is overtaken."""
        at = self._written_at.get(id(quotation), 0)
        overtaken = quotation.overtaken or self._changed_at > at

        def holds(text: str) -> bool:
            return all(self._removed.get(name, 0) <= at for name in names_in(text))

        text = quotation.text
        if not holds(text):
            text = "\n".join("".join(filter(holds, _sentences(line))) for line in text.splitlines()).strip()
        return quotation.model_copy(update={"text": text, "overtaken": overtaken}) if text else None

    def _add(self, quotation: Quotation) -> None:
        self._quotations[id(quotation)] = quotation
        self._written_at[id(quotation)] = self._clock


def _sentences(line: str) -> list[str]:
    """A line's sentences with its indentation and marker; a line of one sentence as it is."""
    sentences = list(sentences_of(line))
    if len(sentences) < 2:  # noqa: PLR2004 - nothing to divide
        return [line]
    start = line.find(sentences[0])
    return [line[: max(0, start)], *(f"{sentence} " for sentence in sentences)]
