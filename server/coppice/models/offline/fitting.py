"""Fitting a draft into its token budget: constraints first, then a share for each section, then the index."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from coppice.compaction import lines
from coppice.compaction.facts.constraints import Constraint
from coppice.compaction.facts.packing import pack_identifiers
from coppice.compaction.facts.passages import passages_of
from coppice.compaction.facts.progress import FileWork
from coppice.compaction.facts.sentences import clip
from coppice.compaction.summarizer import CountTokens, SummaryRequest, cautious
from coppice.compaction.summary import Summary, SummaryDecision, inert
from coppice.models.offline.drafting import SUPERSEDED, Draft

_GOAL: Final = 0.12
_WEAK: Final = 0.12
_DONE: Final = 0.20
_IN_PROGRESS: Final = 0.05
_BLOCKED: Final = 0.08
_DECISIONS: Final = 0.10
_NEXT: Final = 0.06
_COMMANDS: Final = 0.05
_NOTES: Final = 0.10
_TURN: Final = 0.15
_DETAILED: Final = 0.7
_LATER_REQUESTS: Final = 8
_MOST_NEXT_STEPS: Final = 10
_MOST_INDEX_TOKENS: Final = 5_000
_INDEX_OF_INPUT: Final = 0.25
_LEAST_INDEX_TOKENS: Final = 200
_CHARS_PER_TOKEN: Final = 4
_LABEL_TOKENS: Final = 30
_ROUNDS: Final = 8
_SPARE: Final = 0.02


def fit_draft(draft: Draft, request: SummaryRequest) -> str:
    """The summary's text, at most `request.max_tokens` by `request.count_tokens`, whatever the budget.

    A quarter of its characters, the estimate of counters without a tokenizer, stays within it too, so that
    the summary fits whoever counts.
    """
    limit = request.max_tokens
    count = cautious(request.count_tokens)
    longest_index = index_limit(request)
    budget, best = limit, ""
    for _ in range(_ROUNDS):
        text = _Fitter(draft, count, budget, longest_index).summary().render()
        spare = limit - count(text)
        if text == best:
            break
        if spare >= 0:
            best = max(best, text, key=len)
        if 0 <= spare <= limit * _SPARE or budget + spare <= 0:
            break
        budget += spare - 4 if spare < 0 else spare * 3 // 4
    return best or _bare(draft, count, limit)


def index_limit(request: SummaryRequest) -> int:
    """How many tokens of identifiers a summary gets at most.

    A short conversation gets a short index, so that its summary stays smaller than itself.
    """
    characters = sum(len(passage.text) for passage in passages_of([*request.history, *request.turn_prefix]))
    before = request.count_tokens(request.previous_summary) if request.previous_summary else 0
    share = int(characters / _CHARS_PER_TOKEN * _INDEX_OF_INPUT) + before
    return min(_MOST_INDEX_TOKENS, max(_LEAST_INDEX_TOKENS, share))


@dataclass(slots=True)
class _Fitter:
    draft: Draft
    count: CountTokens
    budget: int
    index_limit: int

    def summary(self) -> Summary:
        draft = self.draft
        left = max(0, self.budget - self.count(Summary().render()))
        constraints = self._constraints(left)
        left -= self._cost(constraints)
        share = max(0, left)
        goal = self._goal(int(share * _GOAL))
        done = self._done(int(share * _DONE))
        summary = Summary(
            goal=goal,
            constraints=tuple(constraints),
            done=done,
            in_progress=self._taken(draft.in_progress, share * _IN_PROGRESS),
            blocked=self._taken(draft.blocked, share * _BLOCKED),
            decisions=self._decisions(share * _DECISIONS),
            next_steps=self._taken(draft.next_steps[:_MOST_NEXT_STEPS], share * _NEXT),
            turn=self._taken(draft.turn, share * _TURN),
            context=self._context(share),
        )
        return self._with_index(summary)

    def _with_index(self, summary: Summary) -> Summary:
        text = summary.render()
        left = min(self.index_limit, self.budget - self.count(text) - _LABEL_TOKENS)
        if left <= 0:
            return summary
        chosen = pack_identifiers(
            self.draft.identifiers, already_in=text, max_tokens=left, count_tokens=self.count
        )
        return _replaced_context(summary, (*summary.context, *lines.index_lines(chosen)))

    def _constraints(self, left: int) -> list[str]:
        """All strong ones, and those wishes that find room; what is dropped first is the longest wish."""
        stated = self.draft.constraints
        wishes = self._taken([c.text for c in reversed(stated) if not c.strong], left * _WEAK)
        kept = [c for c in stated if c.strong or c.text in wishes]
        while kept and self._cost([c.text for c in kept]) > left:
            kept.remove(_most_dispensable(kept))
        return [c.text for c in kept]

    def _goal(self, share: int) -> tuple[str, ...]:
        requests = self.draft.requests
        if not requests or share <= 0:
            return ()
        first = _clipped(requests[0], share // (1 if len(requests) == 1 else 2), self.count)
        later = [f"{lines.THEN}{text}" for text in requests[1:]][-_LATER_REQUESTS:]
        if later:
            later[-1] = lines.NOW + later[-1].removeprefix(lines.THEN)
        taken = self._taken(list(reversed(later)), share - self.count(first))
        return (first, *reversed(taken))

    def _done(self, share: int) -> tuple[str, ...]:
        """The newest files in detail, the others by path, then what was reached."""
        milestones = self._taken(list(reversed(self.draft.milestones)), share * (1 - _DETAILED))
        detail_share = share - self._cost(milestones)
        works = list(reversed(self.draft.files))
        told = {lines.file_line(work): work for work in works}
        detailed = self._taken(list(told), detail_share * _DETAILED)
        others = [work for line, work in told.items() if line not in detailed]
        rest = self._also_changed(others, detail_share - self._cost(detailed))
        return (*reversed(detailed), *rest, *reversed(milestones))

    def _also_changed(self, works: Sequence[FileWork], share: float) -> list[str]:
        paths: list[str] = []
        spent = float(self.count(lines.ALSO_CHANGED))
        for work in works:
            spent += self.count(f" {work.path}")
            if spent > share:
                break
            paths.append(work.path)
        return [lines.ALSO_CHANGED + " ".join(paths)] if paths else []

    def _decisions(self, share: float) -> tuple[SummaryDecision, ...]:
        """The newest that fit, those that still hold before those that were superseded; oldest first."""
        decisions = self.draft.decisions
        holding = [decision for decision in reversed(decisions) if not decision.what.startswith(SUPERSEDED)]
        dropped = [decision for decision in reversed(decisions) if decision.what.startswith(SUPERSEDED)]
        taken = []
        for decision in (*holding, *dropped):
            share -= self.count(f"- **{decision.what}**: {decision.why}\n")
            if share < 0:
                break
            taken.append(decision)
        return tuple(decision for decision in decisions if decision in taken)

    def _context(self, share: float) -> tuple[str, ...]:
        notes = self._taken(self.draft.notes, share * _NOTES)
        commands = self._taken([f"`{command}`" for command in self.draft.commands], share * _COMMANDS)
        listed = [lines.commands_line([command.strip("`") for command in commands])] if commands else []
        return (*notes, *listed)

    def _taken(self, texts: Sequence[str], share: float) -> tuple[str, ...]:
        """As many of `texts`, in order, as fit the share; one that is too long is passed over."""
        taken = []
        for text in texts:
            cost = self._cost([text])
            if cost <= share:
                share -= cost
                taken.append(text)
        return tuple(taken)

    def _cost(self, texts: Iterable[str]) -> int:
        return sum(self.count(f"- [x] {inert(text)}\n") for text in texts)


def _most_dispensable(constraints: Sequence[Constraint]) -> Constraint:
    wishes = [constraint for constraint in constraints if not constraint.strong]
    return max(wishes or constraints, key=lambda constraint: len(constraint.text))


def _replaced_context(summary: Summary, context: tuple[str, ...]) -> Summary:
    return Summary(
        goal=summary.goal,
        constraints=summary.constraints,
        done=summary.done,
        in_progress=summary.in_progress,
        blocked=summary.blocked,
        decisions=summary.decisions,
        next_steps=summary.next_steps,
        context=context,
        turn=summary.turn,
    )


def _clipped(text: str, share: int, count: CountTokens) -> str:
    limit = len(text)
    while limit > 8 and count(clip(text, limit)) > share:  # noqa: PLR2004 - shorter says nothing
        limit = limit * 3 // 4
    return clip(text, limit)


def _bare(draft: Draft, count: CountTokens, limit: int) -> str:
    """For a budget that cannot hold the headings: constraints and goal alone, as many as fit."""
    texts = [f"- {inert(c.text)}" for c in draft.constraints] + [inert(text) for text in draft.requests[:1]]
    while texts and count("\n".join(texts)) > limit:
        texts.pop()
    return "\n".join(texts)
