"""The audit: a model's summary beside what rules found in the same conversation, and the two made one.

The model's prose stays where nothing speaks against it. What must not depend on a model is put right: the
user's constraints word for word and no others, the requests themselves, errors that are still open, and an
index of the identifiers that later work will need, for which room is kept however long the prose is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from coppice.compaction import lines
from coppice.compaction.facts.constraints import Constraint, distinct, strength_of
from coppice.compaction.facts.extraction import Facts
from coppice.compaction.facts.packing import pack_identifiers
from coppice.compaction.facts.ranking import RankedIdentifier
from coppice.compaction.facts.sentences import clip, sentences_of
from coppice.compaction.facts.wording import user_words
from coppice.compaction.prompts import normalized
from coppice.compaction.summarizer import CountTokens, cautious
from coppice.compaction.summary import Summary, SummaryDecision, inert
from coppice.compaction.trimming import trimmed, with_other_in_context
from coppice.tree.messages import Message, UserMessage, text_of

_INDEX_SHARE: Final = 0.6
_SMALLEST_INDEX: Final = 2_400
_MOST_INDEX_SHARE: Final = 0.85
_CONSTRAINTS_SHARE: Final = 0.5
_WISHES_SHARE: Final = 0.12
_ROUNDS: Final = 4
_SPARE: Final = 0.02
_LABELS: Final = 30
_NEARLY_ALL: Final = 0.7
_SUPPORTED: Final = 0.6
_FEWEST_WORDS: Final = 2
_SEEN_CHARS: Final = 240
_MOST_SEEN: Final = 8
_REQUEST_CHARS: Final = 320
_ASKED: Final = "Request: "
_MOST_OPEN_ERRORS: Final = 8
_MOST_DECISIONS: Final = 12
_GLUE: Final = frozenset(
    (
        *("a", "an", "and", "are", "as", "be", "by", "do", "for", "in", "is", "it", "not", "of", "on"),
        *("or", "please", "that", "the", "this", "to", "user"),
    )
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a model's summary is held against.

    `by_rule` is the whole summary that rules alone made of the same span, `previous` the summary before it
    as it was stored. `said` are the sentences that the user typed in the span. `index_tokens` bounds the
    index of identifiers.
    """

    facts: Facts
    by_rule: Summary
    previous: Summary
    said: Sequence[str]
    index_tokens: int


@dataclass(frozen=True, slots=True)
class Audited:
    """The summary's text, and how often what was done to it."""

    text: str
    counts: Mapping[str, int]


def sentences_said(messages: Iterable[Message]) -> list[str]:
    """The sentences that the user wrote in `messages`, without pastes and what a harness added."""
    return [
        sentence
        for message in messages
        if isinstance(message, UserMessage)
        for sentence in sentences_of(user_words(text_of(message.content)))
    ]


def audit(summary: Summary, evidence: Evidence, max_tokens: int, count_tokens: CountTokens) -> Audited:
    """`summary` put right, in at most `max_tokens`; empty when not even the headings fit. CPU-bound.

    Its constraints afterwards are sentences of the user or stood in the previous summary, whatever the
    model wrote. `counts` tells `constraintsAdded`, `claimsDropped`, `errorsAdded`, `errorsClosed`,
    `sectionsFilled`, `decisionsAdded`, `linesTrimmed` and `identifiersAdded`, where they are not 0.
    """
    count = cautious(count_tokens)
    counts: dict[str, int] = {}
    summary = with_other_in_context(summary)
    constraints = _constraints(summary.constraints, evidence, counts)
    summary = replace(
        summary,
        goal=_goal(summary.goal, evidence),
        blocked=_blocked(summary.blocked, evidence, counts),
        decisions=_decisions(summary.decisions, evidence, counts),
        context=_context(summary.context, evidence),
    )
    summary = _filled(summary, evidence.by_rule, counts)
    fitter = _Fitter(summary, constraints, evidence, max_tokens, count)
    text = fitter.fitted(counts)
    return Audited(text, {name: number for name, number in counts.items() if number})


def _constraints(claimed: Sequence[str], evidence: Evidence, counts: dict[str, int]) -> list[Constraint]:
    """The user's constraints, oldest first: found by rule, or seen by the model in the user's words."""
    carried = [Constraint(text, strength_of(text) is not False) for text in evidence.previous.constraints]
    known = distinct([*carried, *evidence.facts.constraints])
    texts = {normalized(each.text) for each in known}
    seen: list[Constraint] = []
    for claim in claimed:
        if normalized(claim) in texts:
            continue
        source = _source_of(claim, [*(each.text for each in known), *evidence.said])
        if source is None:
            counts["claimsDropped"] = counts.get("claimsDropped", 0) + 1
        elif normalized(source) not in texts and len(source) <= _SEEN_CHARS and len(seen) < _MOST_SEEN:
            seen.append(Constraint(source, strength_of(source) is True))
    told = normalized("\n".join(claimed))
    counts["constraintsAdded"] = sum(each.strong and normalized(each.text) not in told for each in known)
    return distinct([*known, *seen])


def _source_of(claim: str, said: Sequence[str]) -> str | None:
    """The sentence that holds most of what `claim` claims; a claim without one was never said."""
    words = _words(claim)
    if len(words) < _FEWEST_WORDS:
        return None
    best = max(said, key=lambda sentence: len(words & _words(sentence)), default="")
    return best if len(words & _words(best)) >= _SUPPORTED * len(words) else None


def _words(text: str) -> set[str]:
    """Words for comparing; of Chinese, pairs of characters."""
    found = set()
    for word in normalized(text).split():
        if word.isascii():
            found.add(word)
        else:
            found.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
    return found - _GLUE


def _goal(goal: Sequence[str], evidence: Evidence) -> tuple[str, ...]:
    """The first request and the newest in the user's own words, with the model's telling between them."""
    before = evidence.previous.goal
    requests = [request.text for request in evidence.facts.requests]
    first = before[0] if before else requests[0] if requests else ""
    earlier = [text.removeprefix(lines.NOW) for text in before if text.startswith(lines.NOW)]
    earlier += [text.removeprefix(_ASKED) for text in evidence.previous.turn if text.startswith(_ASKED)]
    newest = (requests or earlier or [""])[-1]
    told = [text for text in goal if not text.startswith(lines.NOW) and normalized(text) != normalized(first)]
    whole = normalized("\n".join((first, *told)))
    anchors = [clip(first, _REQUEST_CHARS * 2)] if first else []
    now = [lines.NOW + clip(newest, _REQUEST_CHARS)] if newest and normalized(newest) not in whole else []
    return tuple(dict.fromkeys((*anchors, *told, *now)))


def _blocked(blocked: Sequence[str], evidence: Evidence, counts: dict[str, int]) -> tuple[str, ...]:
    """The model's lines without errors that were mended since, and the errors that it left out."""
    open_lines = evidence.by_rule.blocked
    open_commands = {lines.command_in_error_line(line) for line in open_lines}
    kept = []
    for line in blocked:
        command = lines.command_in_error_line(line)
        if command is not None and command not in open_commands and line in evidence.previous.blocked:
            counts["errorsClosed"] = counts.get("errorsClosed", 0) + 1
        else:
            kept.append(line)
    told = "\n".join(kept)
    missing = [line for line in open_lines if (lines.command_in_error_line(line) or line) not in told]
    added = missing[:_MOST_OPEN_ERRORS]
    counts["errorsAdded"] = len(added)
    return (*added, *kept)


def _decisions(
    decisions: Sequence[SummaryDecision], evidence: Evidence, counts: dict[str, int]
) -> tuple[SummaryDecision, ...]:
    """The model's decisions behind those found by rule that it does not tell."""
    told = [_words(f"{each.what} {each.why}") for each in decisions]
    missing = [
        each
        for each in evidence.by_rule.decisions
        if not any(len(_words(each.what) & words) >= _SUPPORTED * len(_words(each.what)) for words in told)
    ][-_MOST_DECISIONS:]
    counts["decisionsAdded"] = len(missing) if decisions else 0
    return (*missing, *decisions)


def _context(context: Sequence[str], evidence: Evidence) -> tuple[str, ...]:
    """The model's notes, then the commands that worked; old indexes go, for a new one is made."""
    own = [line for line in context if not lines.is_index_line(line) and not line.startswith(lines.COMMANDS)]
    commands = [line for line in evidence.by_rule.context if line.startswith(lines.COMMANDS)]
    return tuple(dict.fromkeys((*own, *commands)))


def _filled(summary: Summary, by_rule: Summary, counts: dict[str, int]) -> Summary:
    """`summary` with the sections that the model left empty told by rule."""
    notes = tuple(
        line
        for line in by_rule.context
        if not lines.is_index_line(line) and not line.startswith(lines.COMMANDS)
    )
    only_commands = all(line.startswith(lines.COMMANDS) for line in summary.context)
    empty = {
        "done": not summary.done and bool(by_rule.done),
        "in_progress": not summary.in_progress and not summary.next_steps and bool(by_rule.in_progress),
        "next_steps": not summary.next_steps and bool(by_rule.next_steps),
        "context": only_commands and bool(notes),
    }
    counts["sectionsFilled"] = sum(empty.values())
    return replace(
        summary,
        done=by_rule.done if empty["done"] else summary.done,
        in_progress=by_rule.in_progress if empty["in_progress"] else summary.in_progress,
        next_steps=by_rule.next_steps if empty["next_steps"] else summary.next_steps,
        context=(*notes, *summary.context) if empty["context"] else summary.context,
    )


@dataclass(slots=True)
class _Fitter:
    summary: Summary
    constraints: list[Constraint]
    evidence: Evidence
    limit: int
    count: CountTokens

    def fitted(self, counts: dict[str, int]) -> str:
        """The text within the limit: the index takes what it was promised, and what the prose leaves over."""
        bare = self.count(Summary().render())
        constraints = self._kept_constraints(self.limit - bare)
        room = self.limit - self._cost(constraints)
        reserve = self._reserve(room)
        best, shrink = "", 0
        for _ in range(_ROUNDS):
            prose, dropped = trimmed(self.summary, room - reserve - shrink, self.count)
            prose = replace(prose, constraints=constraints)
            text = prose.render()
            index = self._index(text, self.limit - shrink - self.count(text) - _LABELS)
            whole = replace(prose, context=(*prose.context, *lines.index_lines(index))).render()
            spare = self.limit - self.count(whole)
            if spare >= 0:
                counts["linesTrimmed"], counts["identifiersAdded"] = dropped, len(index)
                best = max(best, whole, key=len)
                break
            shrink += max(8, -spare)
        return best or _bare(constraints, self.limit, self.count)

    def _reserve(self, room: int) -> int:
        """What the index is promised: what it needs, within a share of what there is."""
        promised = min(
            self.evidence.index_tokens,
            int(_MOST_INDEX_SHARE * room),
            max(int(_INDEX_SHARE * room), _SMALLEST_INDEX),
        )
        wanted = self._packed("", promised)
        cost = self.count("\n".join(lines.index_lines(wanted))) + _LABELS
        return min(promised, cost) if cost < _NEARLY_ALL * promised else promised

    def _index(self, text: str, tokens: int) -> list[RankedIdentifier]:
        """Identifiers for `tokens`; joined in a line they cost less than one by one, so the rest is used."""
        limit = min(tokens, self.evidence.index_tokens)
        if limit <= 0:
            return []
        ask = limit
        chosen: list[RankedIdentifier] = []
        for _ in range(_ROUNDS):
            found = self._packed(text, ask)
            spare = limit - self.count("\n".join(lines.index_lines(found)))
            if spare < 0:
                ask += spare
                continue
            if len(found) <= len(chosen):
                break
            chosen = found
            if spare <= limit * _SPARE:
                break
            ask += spare
        return chosen

    def _packed(self, text: str, tokens: int) -> list[RankedIdentifier]:
        return pack_identifiers(
            self.evidence.facts.identifiers, already_in=text, max_tokens=tokens, count_tokens=self.count
        )

    def _kept_constraints(self, room: int) -> tuple[str, ...]:
        """Every strong one, and the wishes that find room; where that is too much, the longest go first."""
        wishes = self._taken(
            [c.text for c in reversed(self.constraints) if not c.strong], room * _WISHES_SHARE
        )
        kept = [c for c in self.constraints if c.strong or c.text in wishes]
        limit = max(room * _CONSTRAINTS_SHARE, min(room, _SMALLEST_INDEX))
        while kept and self._cost([c.text for c in kept]) > limit:
            kept.remove(max(kept, key=lambda each: (strength_of(each.text) is not True, len(each.text))))
        return tuple(c.text for c in kept)

    def _taken(self, texts: Sequence[str], room: float) -> set[str]:
        taken = set()
        for text in texts:
            cost = self._cost([text])
            if cost <= room:
                room -= cost
                taken.add(text)
        return taken

    def _cost(self, texts: Iterable[str]) -> int:
        return sum(self.count(f"- {inert(text)}\n") for text in texts)


def _bare(constraints: Sequence[str], limit: int, count: Callable[[str], int]) -> str:
    for kept in (constraints, ()):
        text = Summary(constraints=tuple(kept)).render()
        if count(text) <= limit:
            return text
    return ""
