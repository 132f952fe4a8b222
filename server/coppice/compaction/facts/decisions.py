"""Decisions and their reasons, and which of them a later one took back."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from coppice.compaction.facts.sentences import clip, sentences_of
from coppice.compaction.facts.wording import user_words
from coppice.tree.messages import AssistantMessage, Message, TextContent, UserMessage, text_of

_MAX_CHARS: Final = 320
_MIN_CHARS: Final = 12
_SHORT_REPLY: Final = 24

_MARKER: Final = re.compile(
    r"\b(?:decided?|decision|chose|choosing|opt(?:ed|ing)? for|(?:going|go|went) with|settled? on"
    r"|(?:let['’]?s|we['’]?ll|i['’]?ll|we will|i will|we should|should|better to|best to) (?:just |now "
    r"|instead )?"
    r"(?:use|keep|adopt|stay|stick|switch|drop|store|skip|avoid|support|rely|reuse)"
    r"|switch(?:ed|ing)? (?:to|from|back|over)|instead of|rather than|stick(?:ing)? with|no longer"
    r"|revert(?:ed|ing)? to|changed? (?:my|our) mind|on second thought|change of plan|scrap that"
    r"|in favou?r of|the (?:best|right|cleanest|simplest) (?:approach|way|option|solution) is)\b"
    r"|决定|改用|选用|改为|换成|不再用|不再使用|放弃|而不是|选择了?|采用|还是用",
    re.IGNORECASE,
)
_FIRM: Final = re.compile(
    r"\b(?:decided?|decision|chose|opt(?:ed|ing)? for|(?:going|go|went) with|settled? on"
    r"|switch(?:ed|ing)? (?:to|from|back|over)|instead of|rather than|in favou?r of|no longer"
    r"|change of plan)\b"
    r"|决定|改用|选用|换成|放弃|而不是|采用",
    re.IGNORECASE,
)
_REMEDY: Final = re.compile(
    r"\bI(?: need|['’]ll need|['’]ll have| have) to (?:rewrite|replace|switch|use|avoid|remove|change)\b"
    r"|需要改",
    re.IGNORECASE,
)
_PROBLEM: Final = re.compile(
    r"\b(?:(?:does|do|did|can|could|is|are|was|wo)n['’]?t|cannot|not|fails?|failing|unsupported|breaks?|error"
    r"|missing)\b|不支持|不能|失败",
    re.IGNORECASE,
)
_NARRATION: Final = re.compile(
    r"(?:now |expected|good|great|perfect|ok(?:ay)?[,. ]|looks? like)", re.IGNORECASE
)
_CHANGE: Final = re.compile(
    r"\b(?:actually|instead|rather than|no longer|switch|revert|change of plan|on second thought|scrap|drop"
    r"|replace"
    r"|changed? (?:my|our) mind|after all|not .{1,40} but)\b|改用|改为|换成|不再|放弃|而不是|还是",
    re.IGNORECASE,
)
_TENTATIVE: Final = re.compile(
    r"[?？]\s*$|\b(?:let me|maybe|perhaps|might|could|should (?:i|we)|would you|if you|option \d"
    r"|alternatively)\b|吗|也许|可能",
    re.IGNORECASE,
)
_USER_CHANGE: Final = re.compile(
    r"^(?:actually|instead|no,|nope|change of plan|scrap|on second thought|forget|revert)|^(?:不|改|还是|换"
    r"|算了)",
    re.IGNORECASE,
)
_REASON: Final = re.compile(
    r"\s*[,;:(—–-]{0,2}\s*\b(?:because(?: of)?|since|so that|so (?:we|it|the)|given that|due to|in order to"
    r"|to avoid"
    r"|which (?:avoids|keeps|means|lets|makes)|as (?:it|this|that|the|we|they))\b|\s+[—–]\s+"
    r"|[，,；;]?\s*(?:因为|由于|以便|为了|以免|避免)",
    re.IGNORECASE,
)
_LEADING_REASON: Final = re.compile(
    r"(?:(?:since|because|given that|as)\b|因为|由于)\s*(.{4,200}?)\s*[,，]\s*(?:所以)?(.+)$", re.IGNORECASE
)
_REASON_SENTENCE: Final = re.compile(
    r"(?:because|since|the reason|reason:|why:|that way|this (?:way|avoids|keeps|means|lets|makes)"
    r"|otherwise|它|这样|原因|因为)",
    re.IGNORECASE,
)
_REJECTED: Final = re.compile(
    r"(?:\binstead of|\brather than|\b(?:switch(?:ed|ing)?|mov(?:e|ed|ing)|migrat(?:e|ed|ing)|chang(?:e|ed"
    r"|ing)) (?:away )?from"
    r"|\bno longer(?: use)?|\bdrop(?:ped|ping)?|\breplac(?:e|ed|ing)|\bscrap|\bforget(?: about)?|\bnot"
    r"|\bover|\baway from"
    r"|\bstop using|而不是|不再使用|不再用|不再|放弃|不用|不要用|把)\s*([^,.;:，。；—]{2,60})",
    re.IGNORECASE,
)
_WORDS: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.+#-]*[A-Za-z0-9+#]|[\u4e00-\u9fff]{2}")
_COMMON: Final = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "that",
        "this",
        "from",
        "into",
        "use",
        "using",
        "used",
        "will",
        "should",
        "would",
        "could",
        "just",
        "instead",
        "rather",
        "than",
        "not",
        "now",
        "let",
        "lets",
        "also",
        "all",
        "its",
        "our",
        "your",
        "have",
        "has",
        "had",
        "been",
        "was",
        "were",
        "are",
        "but",
        "only",
        "then",
        "them",
        "they",
        "what",
        "when",
        "where",
        "which",
        "keep",
        "switch",
        "go",
        "going",
        "store",
        "drop",
        "replace",
        "approach",
        "option",
        "file",
        "files",
        "code",
        "one",
        "two",
        "new",
        "old",
        "make",
        "made",
        "need",
        "needs",
        "because",
        "since",
        "over",
        "away",
        "decided",
        "decision",
        "actually",
        "after",
        "before",
        "more",
        "most",
        "same",
        "still",
        "stay",
        "stick",
        "like",
    ]
)


@dataclass(frozen=True, slots=True)
class Decision:
    """`what` was decided, `why` (empty when nobody said), and what replaced it, if something did."""

    what: str
    why: str = ""
    index: int = -1
    superseded_by: str = ""
    by_user: bool = False


def decisions_in(messages: Sequence[Message]) -> list[Decision]:
    """The decisions that the user and the assistant stated, oldest first, with later ones applied.

    Tool results are no source.
    """
    found: list[Decision] = []
    for index, message in enumerate(messages):
        match message:
            case UserMessage():
                found += _of_text(user_words(text_of(message.content)), index, by_user=True)
            case AssistantMessage():
                said = "\n".join(block.text for block in message.content if isinstance(block, TextContent))
                found += _of_text(user_words(said), index, by_user=False)
            case _:
                pass
    return with_later_applied(found)


def with_later_applied(decisions: Iterable[Decision]) -> list[Decision]:
    """`decisions` (oldest first) without repetitions, each marked when a later one took it back."""
    kept: list[Decision] = []
    for decision in decisions:
        if any(_same(decision, other) for other in kept):
            continue
        rejected = _rejected_words(decision)
        changes = bool(_CHANGE.search(decision.what))
        for place, earlier in enumerate(kept):
            if not earlier.superseded_by and changes and _takes_back(decision, rejected, earlier):
                kept[place] = replace(earlier, superseded_by=clip(decision.what, 120))
        kept.append(decision)
    return kept


def _of_text(text: str, index: int, *, by_user: bool) -> Iterator[Decision]:
    sentences = list(sentences_of(text))
    for number, sentence in enumerate(sentences):
        if not _MIN_CHARS // (1 if sentence.isascii() else 3) <= len(sentence) <= _MAX_CHARS:
            continue
        if _TENTATIVE.search(sentence) or _NARRATION.match(sentence) or sentence.endswith((":", "：")):
            continue
        before = sentences[number - 1] if number else ""
        following = sentences[number + 1] if number + 1 < len(sentences) else ""
        remedy = bool(_REMEDY.search(sentence) and _PROBLEM.search(before))
        turn = by_user and bool(_USER_CHANGE.match(sentence)) and len(sentence) > _SHORT_REPLY
        if not (remedy or turn or _MARKER.search(sentence)):
            continue
        what, why = _split_reason(sentence)
        if not why and remedy:
            why = clip(before, 200)
        elif not why and _REASON_SENTENCE.match(following):
            why = clip(following, 200)
        if why or by_user or _FIRM.search(sentence):
            yield Decision(what, why, index, by_user=by_user)


def _split_reason(sentence: str) -> tuple[str, str]:
    leading = _LEADING_REASON.match(sentence)
    if leading:
        return leading[2].strip(), leading[1].strip()
    for match in _REASON.finditer(sentence):
        what, why = sentence[: match.start()].strip(), sentence[match.start() :].strip(" ,;:(—–-，；")
        if len(what) >= _MIN_CHARS // (1 if what.isascii() else 3) and len(why) > 3 and _MARKER.search(what):  # noqa: PLR2004
            return what.rstrip(",;:，；"), why
    return sentence, ""


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORDS.findall(text) if len(word) > 1) - _COMMON


def _rejected_words(decision: Decision) -> frozenset[str]:
    return frozenset(
        word
        for match in _REJECTED.finditer(f"{decision.what}. {decision.why}")
        for word in _words(re.split(r"\b(?:with|to|for|and|in|because)\b|换成|改成", match[1])[0])
    )


def _takes_back(decision: Decision, rejected: frozenset[str], earlier: Decision) -> bool:
    chosen_before = _words(earlier.what) - _rejected_words(earlier)
    if rejected & chosen_before:
        return True
    shared = _words(decision.what) & chosen_before
    return len(shared) >= 2 and len(shared) >= len(chosen_before) / 2  # noqa: PLR2004


def _same(one: Decision, other: Decision) -> bool:
    mine, theirs = one.what.casefold().strip(" .!。"), other.what.casefold().strip(" .!。")
    return mine == theirs
