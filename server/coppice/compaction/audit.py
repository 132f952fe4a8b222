"""The audit: a model's summary is verified against the ledger and corrected where it does not hold.

The model's prose stays where no fact contradicts it. What must not depend on a model is put right: the
user's constraints word for word, files changed and not committed, open problems, tasks under way. Missing
facts are inserted as statements in their sections, in at most a tenth of the summary's tokens.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Final

from coppice.compaction.ledger.fitting import chosen_lines, summary_of
from coppice.compaction.ledger.lines import LedgerLines, Line
from coppice.compaction.ledger.references import with_known_references
from coppice.compaction.ledger.rules import distinct
from coppice.compaction.old_summaries import without_index
from coppice.compaction.phrases import LAST_EVENTS
from coppice.compaction.prompts import normalized
from coppice.compaction.serialization import serialize
from coppice.compaction.summarizer import CountTokens, cautious
from coppice.compaction.summary import Summary
from coppice.compaction.text.names import names_in
from coppice.compaction.text.sentences import clip, sentences_of, whole_sentences
from coppice.compaction.text.user_text import typed_by_user
from coppice.compaction.trimming import fit_whole, with_other_in_context
from coppice.protocol.ledger import Rule, WorkLedger
from coppice.tree.messages import Message, UserMessage, text_of

NOW: Final = "Now: "
_ADDED_SHARE: Final = 10
"""The summary's tokens divided by this bound what the audit adds (design: at most a tenth)."""
_LEAST_ADDED: Final = 200
"""Tokens that may be added to a short summary (guess: the files, errors and tasks of one step)."""
_MUST_PRIORITY: Final = 84
"""Lines of the ledger from this priority on must be in a summary."""
_SUPPORTED: Final = 0.6
"""Share of a claim's words that a source must contain (guess: a paraphrase brings words of its own)."""
_STATED: Final = 0.6  # share of a line's words that one sentence must have (guess)
_NEWEST_EVENTS: Final = 4  # that are inserted; the model was given all of them (guess)
_DONE_CHARS: Final = 200  # characters of a commit that is inserted (guess)
_FEWEST_WORDS: Final = 2
"""A claim of one word is in too many sentences to be traced to one (guess)."""
_SEEN_CHARS: Final = 240  # characters of an instruction that is added (guess)
_MOST_SEEN: Final = 8  # instructions that are added (guess)
_LABEL_WORDS: Final = 8  # words that say what a quoted instruction was about (guess)
_REQUEST_CHARS: Final = 1_600  # characters of a request (guess)
_MOST_STRUCK: Final = 20  # removed claims that are reported (guess)
_STRUCK_CHARS: Final = 200  # characters of each (guess)
_GLUE: Final = re.compile(r"a|an|and|are|as|be|by|do|for|in|is|it|not|of|on|or|please|that|the|this|to|user")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a model's summary is verified against.

    `previous` is the summary before it as it was stored, `typed` are the sentences that the user typed in
    the span, `words` those of the whole span, whoever wrote them, and `entries` the ids that a reference may
    name. `done` are constraints and sentences of the user's that a command carried out.
    """

    ledger: WorkLedger
    previous: Summary
    typed: Sequence[str]
    words: AbstractSet[str] = frozenset()
    entries: frozenset[str] = frozenset()
    done: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Audited:
    """The summary's text, how often what was done to it, and the lines that were struck out of it."""

    text: str
    counts: Mapping[str, int]
    struck: Sequence[str] = ()


@dataclass(slots=True)
class _Changes:
    counts: dict[str, int] = field(default_factory=dict)
    struck: list[str] = field(default_factory=list)

    def add(self, name: str, number: int = 1) -> None:
        self.counts[name] = self.counts.get(name, 0) + number

    def strike(self, name: str, text: str) -> None:
        self.add(name)
        self.struck.append(clip(text, _STRUCK_CHARS))


def typed_sentences(messages: Iterable[Message]) -> list[str]:
    """The sentences that the user typed in `messages`, without pastes and what a harness added."""
    return [
        sentence
        for message in messages
        if isinstance(message, UserMessage)
        for sentence in sentences_of(typed_by_user(text_of(message.content)))
    ]


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
    changes = _Changes()
    summary = without_index(with_other_in_context(summary))
    summary, unknown = with_known_references(summary, evidence.entries)
    changes.add("referencesDropped", unknown)
    summary = _without_closed(summary, evidence.ledger, changes)
    own = count(summary.render())
    thin = max(0, min(target_tokens or max_tokens, max_tokens) // 2 - own)
    room = max(_LEAST_ADDED, own // _ADDED_SHARE, thin)
    constraints, moved = _constraints(summary.constraints, evidence, changes)
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


def _constraints(
    claimed: Sequence[str], evidence: Evidence, changes: _Changes
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The constraints as they were stated, oldest first, and the claims that belong to the context.

    What the user typed is kept word for word, a claim about instructions as written. What a brief demands, or
    what the model concludes from the span, is context: it may be true and useful, but is not the user's word.
    A claim whose words the span does not contain is struck out, and so is an instruction that was followed.
    """
    carried = [Rule(text=text) for text in evidence.previous.constraints if text not in evidence.done]
    mine = [rule for rule in evidence.ledger.rules if not rule.source]
    known = distinct([*carried, *(rule for rule in mine if rule.strong)])
    texts = {normalized(rule.text) for rule in known}
    written = normalized("\n".join(claimed))
    changes.add("constraintsAdded", sum(normalized(rule.text) not in written for rule in known))
    instructions = [rule.text for rule in evidence.ledger.rules if rule.source]
    others = _other_sources(evidence.ledger)
    kept: list[str] = []
    moved: list[str] = []
    for claim in claimed:
        if normalized(claim) in texts:
            continue
        if _source_of(claim, evidence.done) is not None:
            changes.strike("closedDropped", claim)
            continue
        typed = _source_of(claim, [*(rule.text for rule in (*known, *mine)), *evidence.typed])
        if typed is not None:
            if normalized(typed) not in texts and len(typed) <= _SEEN_CHARS and len(kept) < _MOST_SEEN:
                kept.append(claim if _quotes(claim, typed, evidence.words) else typed)
                texts.add(normalized(typed))
        elif claim in evidence.previous.constraints or _source_of(claim, instructions) is not None:
            kept.append(claim)
        elif _source_of(claim, others) is not None or _is_in_span(claim, evidence.words):
            moved.append(claim)
        else:
            changes.strike("claimsDropped", claim)
    return tuple(dict.fromkeys([*(rule.text for rule in known), *kept])), tuple(moved)


def _quotes(claim: str, typed: str, span: AbstractSet[str]) -> bool:
    """Whether `claim` is `typed` after a few words of the span that say what it was about."""
    label, quoted, rest = normalized(claim).partition(normalized(typed))
    words = _words(label)
    return bool(quoted) and not rest and len(words) <= _LABEL_WORDS and words <= span


def _other_sources(ledger: WorkLedger) -> list[str]:
    """Where else a demand can come from: briefs, answers to questions, the notes before."""
    return [
        *(line for brief in ledger.briefs for line in brief.lines),
        *(f"{request.about} {request.text}" for request in ledger.requests if request.kind != "request"),
        *(note.text for note in ledger.notes),
    ]


def _source_of(claim: str, texts: Sequence[str]) -> str | None:
    """The text that holds most of what `claim` claims; None when no text does."""
    words = _words(claim)
    if len(words) < _FEWEST_WORDS:
        return None
    best = max(texts, key=lambda text: len(words & _words(text)), default="")
    return best if len(words & _words(best)) >= _SUPPORTED * len(words) else None


def _is_in_span(claim: str, span: AbstractSet[str]) -> bool:
    words = _words(claim)
    return bool(words) and len(words & span) >= _SUPPORTED * len(words)


def words_of(messages: Iterable[Message]) -> set[str]:
    """The words of `messages` as a model is shown them, for comparing with a summary's claims. CPU-bound."""
    return _words(serialize(messages))


def _words(text: str) -> set[str]:
    """Words for comparing; of Chinese, pairs of characters."""
    found = set()
    for word in normalized(text).split():
        if word.isascii():
            found.add(word)
        else:
            found.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
    return {word for word in found if not _GLUE.fullmatch(word)}


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


def _without_closed(summary: Summary, ledger: WorkLedger, changes: _Changes) -> Summary:
    """`summary` without lines that call open what is closed: tasks that are done, problems that are fixed.

    The last events of an earlier summary are the last ones no more; those of the ledger are inserted again.
    """
    done = {task.id for task in ledger.tasks if task.id and task.state == "done"}
    left = {task.id for task in ledger.tasks if task.id and task.state != "done"}
    failing = {problem.what for problem in ledger.problems if problem.open}
    fixed = {problem.what for problem in ledger.problems} - failing

    def is_closed_task(line: str) -> bool:
        named = {identifier for identifier in done | left if _names(line, identifier)}
        return (
            bool(named) and named <= done and normalized(line).startswith(("task", *(map(normalized, named))))
        )

    def is_fixed(line: str) -> bool:
        about = line.lstrip("`")
        named = [what for what in fixed | failing if re.match(rf"{re.escape(what)}(?!\w)", about)]
        return bool(named) and max(named, key=len) in fixed

    def kept(lines: Sequence[str], *, blocked: bool = False) -> tuple[str, ...]:
        found = []
        for line in lines:
            if line.startswith(LAST_EVENTS):
                continue
            if is_fixed(line) if blocked else is_closed_task(line):
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


def _names(line: str, identifier: str) -> bool:
    place = line.find(identifier)
    while place >= 0:
        after = line[place + len(identifier) : place + len(identifier) + 2]
        if not (after[:1].isalnum() or (after[:1] == "." and after[1:].isdigit())):
            return True
        place = line.find(identifier, place + 1)
    return False


def _missing(summary: Summary, ledger: WorkLedger, least: float) -> list[Line]:
    """The facts of at least the priority `least` that `summary` does not state.

    A request states none, and a constraint nothing that is in progress.
    """
    done = Summary(done=summary.done, decisions=summary.decisions, context=summary.context).render()
    text = replace(summary, goal=()).render()
    left = replace(summary, goal=(), constraints=(), done=(), decisions=(), context=()).render()
    stated = [_words(line) for line in text.splitlines()]
    where = {"done": done, "in_progress": left, "blocked": left, "next_steps": left}
    newest = [event for event in ledger.recent if event.kind != "planned"][-_NEWEST_EVENTS:]
    lines = LedgerLines.of(ledger.model_copy(update={"recent": newest})).lines()
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


def _is_named_alone(file_name: str, text: str) -> bool:
    """Whether `text` has the file's name without a folder; after one it may be another file."""
    return re.search(rf"(?<![\w/]){re.escape(file_name)}", text) is not None


def _is_stated(line: Line, text: str, stated: Sequence[set[str]]) -> bool:
    """Whether `text`, the sections that the line belongs to, names its keys, or some line has its words."""
    names = line.keys or tuple(set(names_in(line.text)))
    if names and all(name in text or _is_named_alone(name.rpartition("/")[2], text) for name in names):
        return True
    if line.keys:
        return False
    words = _words(line.text)
    return any(len(words & other) >= _STATED * len(words) for other in stated)
