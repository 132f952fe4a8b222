"""The audit: a model's summary is verified against the ledger and corrected where it does not hold.

The model's prose stays where no fact contradicts it. What must not depend on a model is put right: the
user's constraints word for word, files changed and not committed, open problems, tasks under way. Missing
facts are inserted as statements in their sections, in at most a tenth of the summary's tokens.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from coppice.compaction.asking.summarizer import CountTokens, cautious
from coppice.compaction.checking.claims import Changes, Evidence, checked_constraints
from coppice.compaction.ledger.fitting import chosen_lines, summary_of
from coppice.compaction.ledger.line import Line
from coppice.compaction.ledger.lines import lines_of
from coppice.compaction.ledger.references import with_known_references
from coppice.compaction.ledger.tasks import is_about_closed
from coppice.compaction.old_summaries import without_index
from coppice.compaction.phrases import LAST_EVENTS
from coppice.compaction.summary import Summary
from coppice.compaction.text.comparing import normalized, words_in
from coppice.compaction.text.names import names_in
from coppice.compaction.text.sentences import whole_sentences
from coppice.compaction.trimming import fit_whole, with_other_in_context
from coppice.protocol.ledger import WorkLedger

NOW: Final = "Now: "
_ADDED_SHARE: Final = 10
"""The summary's tokens divided by this bound what the audit adds (design: at most a tenth)."""
_LEAST_ADDED: Final = 200
"""Tokens that may be added to a short summary (guess: the files, errors and tasks of one step)."""
_MUST_PRIORITY: Final = 84
"""Lines of the ledger from this priority on must be in a summary."""
_STATED: Final = 0.6  # share of a line's words that one sentence must have (guess)
_NEWEST_EVENTS: Final = 4  # that are inserted; the model was given all of them (guess)
_DONE_CHARS: Final = 200  # characters of a commit that is inserted (guess)
_REQUEST_CHARS: Final = 1_600  # characters of a request (guess)
_MOST_STRUCK: Final = 20  # removed claims that are reported (guess)


@dataclass(frozen=True, slots=True)
class Audited:
    """The summary's text, how often what was done to it, and the lines that were struck out of it."""

    text: str
    counts: Mapping[str, int]
    struck: Sequence[str] = ()


def audit(
    summary: Summary,
    evidence: Evidence,
    max_tokens: int,
    count_tokens: CountTokens,
    *,
    target_tokens: int | None = None,
) -> Audited:
    """`summary` corrected, in at most `max_tokens`; the text is empty when not even the headings fit.

    A summary of less than half of `target_tokens`, as a weak model writes it, is filled up to that half.

    `counts` has `constraintsAdded`, `claimsDropped`, `factsAdded`, `closedDropped`, `referencesDropped`,
    where they are not 0. CPU-bound.
    """
    count = cautious(count_tokens)
    changes = Changes()
    summary = without_index(with_other_in_context(summary))
    summary, unknown = with_known_references(summary, evidence.entries)
    changes.add("referencesDropped", unknown)
    summary = _without_closed(summary, evidence.ledger, changes)
    own = count(summary.render())
    thin = max(0, min(target_tokens or max_tokens, max_tokens) // 2 - own)
    room = max(_LEAST_ADDED, own // _ADDED_SHARE, thin)
    constraints, moved = checked_constraints(summary.constraints, evidence, changes)
    summary = replace(summary, constraints=constraints, context=(*moved, *summary.context))
    summary = replace(summary, goal=_goal(summary.goal, evidence))
    missing = _missing(summary, evidence.ledger, 0.0 if thin else _MUST_PRIORITY)
    added = chosen_lines(missing, room, count)
    changes.add("factsAdded", len(added))
    summary = _with(summary, added)
    text = summary.render()
    if count(text) > max_tokens:
        text = fit_whole(summary, max_tokens, count)
        changes.add("linesTrimmed", max(1, len(summary.render().splitlines()) - len(text.splitlines())))
    counts = {name: number for name, number in changes.counts.items() if number}
    return Audited(text, counts, tuple(changes.struck[:_MOST_STRUCK]))


def _goal(goal: Sequence[str], evidence: Evidence) -> tuple[str, ...]:
    """The first request and the newest in the user's own words, with the model's lines between them.

    The newest one is left to the model once it was answered.
    """
    requests = [
        each.text for each in evidence.ledger.requests if each.kind == "request" and each.withdrawn_by is None
    ]
    before = evidence.previous.goal
    first = before[0] if before else requests[0] if requests else ""
    newest = requests[-1] if requests else ""
    own = [text for text in goal if not text.startswith(NOW) and normalized(text) != normalized(first)]
    whole = normalized("\n".join((first, *own)))
    anchors = [whole_sentences(first, _REQUEST_CHARS)] if first else []
    last = (
        [NOW + whole_sentences(newest, _REQUEST_CHARS)]
        if newest and normalized(newest) not in whole and not evidence.ledger.finished
        else []
    )
    return tuple(dict.fromkeys((*anchors, *own, *last)))


def _without_closed(summary: Summary, ledger: WorkLedger, changes: Changes) -> Summary:
    """`summary` without lines that call open what is closed: tasks that are done, problems that are fixed.

    The last events of an earlier summary are the last ones no more; those of the ledger are inserted again.
    """
    failing = {problem.what for problem in ledger.problems if problem.open}
    fixed = {problem.what for problem in ledger.problems} - failing

    def is_fixed(line: str) -> bool:
        about = line.lstrip("`")
        named = [what for what in fixed | failing if re.match(rf"{re.escape(what)}(?!\w)", about)]
        return bool(named) and max(named, key=len) in fixed

    def kept(lines: Sequence[str], *, blocked: bool = False) -> tuple[str, ...]:
        found = []
        for line in lines:
            if line.startswith(LAST_EVENTS):
                continue
            if is_fixed(line) if blocked else is_about_closed(line, ledger):
                changes.strike("closedDropped", line)
            else:
                found.append(line)
        return tuple(found)

    return replace(
        summary,
        in_progress=kept(summary.in_progress),
        next_steps=kept(summary.next_steps),
        blocked=kept(summary.blocked, blocked=True),
    )


def _missing(summary: Summary, ledger: WorkLedger, least: float) -> list[Line]:
    """The facts of at least the priority `least` that `summary` does not state.

    A request states none, and a constraint nothing that is in progress.
    """
    done = Summary(done=summary.done, decisions=summary.decisions, context=summary.context).render()
    text = replace(summary, goal=()).render()
    left = replace(summary, goal=(), constraints=(), done=(), decisions=(), context=()).render()
    stated = [words_in(line) for line in text.splitlines()]
    where = {"done": done, "in_progress": left, "blocked": left, "next_steps": left}
    newest = [event for event in ledger.recent if event.kind != "planned"][-_NEWEST_EVENTS:]
    lines = lines_of(ledger.model_copy(update={"recent": newest}))
    return [
        replace(line, text=whole_sentences(line.text, _DONE_CHARS)) if line.section == "done" else line
        for line in lines
        if line.priority >= least
        and line.section not in ("goal", "constraints")
        and not _is_stated(line, where.get(line.section, text), stated)
    ]


def _with(summary: Summary, chosen: Sequence[Line]) -> Summary:
    added = summary_of(chosen)
    names = ("done", "in_progress", "blocked", "next_steps", "context")
    texts = {name: (*getattr(added, name), *getattr(summary, name)) for name in names}
    return replace(summary, decisions=(*added.decisions, *summary.decisions), **texts)


def _is_stated(line: Line, text: str, stated: Sequence[set[str]]) -> bool:
    """Whether `text`, the sections that the line belongs to, names its keys, or some line has its words.

    A file may be named without its folder, but not in another one.
    """
    names = line.keys or tuple(set(names_in(line.text)))
    patterns = [rf"{re.escape(name)}|(?<![\w/]){re.escape(name.rpartition('/')[2])}" for name in names]
    if names and all(re.search(each, text) for each in patterns):
        return True
    if line.keys:
        return False
    words = words_in(line.text)
    return any(len(words & other) >= _STATED * len(words) for other in stated)
