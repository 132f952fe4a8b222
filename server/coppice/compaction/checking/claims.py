"""What a summary claims to be constraints, checked against what the user typed and the span contains."""

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from coppice.compaction.ledger.rules import distinct
from coppice.compaction.span.serialization import serialize
from coppice.compaction.summary import Summary
from coppice.compaction.text.comparing import normalized, words_in
from coppice.compaction.text.sentences import clip, sentences_of
from coppice.compaction.text.user_text import typed_by_user
from coppice.protocol.ledger import Rule, WorkLedger
from coppice.tree.messages import Message, UserMessage, text_of

_SUPPORTED: Final = 0.6
"""Share of a claim's words that a source must contain (guess: a paraphrase brings words of its own)."""
_FEWEST_WORDS: Final = 2
"""A claim of one word is in too many sentences to be traced to one (guess)."""
_SEEN_CHARS: Final = 240  # characters of an instruction that is added (guess)
_MOST_SEEN: Final = 8  # instructions that are added (guess)
_LABEL_WORDS: Final = 8  # words that say what a quoted instruction was about (guess)
_STRUCK_CHARS: Final = 200  # characters of each (guess)


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


@dataclass(slots=True)
class Changes:
    """How often what was done to a summary, and the lines that were struck out of it."""

    counts: Counter[str] = field(default_factory=Counter)
    struck: list[str] = field(default_factory=list)

    def add(self, name: str, number: int = 1) -> None:
        """Counts `number` more of what is called `name`."""
        self.counts[name] += number

    def strike(self, name: str, text: str) -> None:
        """Counts one `name`, and reports `text` as struck out."""
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


def checked_constraints(
    claimed: Sequence[str], evidence: Evidence, changes: Changes
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
    words = words_in(label)
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
    words = words_in(claim)
    if len(words) < _FEWEST_WORDS:
        return None
    best = max(texts, key=lambda text: len(words & words_in(text)), default="")
    return best if len(words & words_in(best)) >= _SUPPORTED * len(words) else None


def _is_in_span(claim: str, span: AbstractSet[str]) -> bool:
    words = words_in(claim)
    return bool(words) and len(words & span) >= _SUPPORTED * len(words)


def words_of(messages: Iterable[Message]) -> set[str]:
    """The words of `messages` as a model is shown them, for comparing with a summary's claims. CPU-bound."""
    return words_in(serialize(messages))
