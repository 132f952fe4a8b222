"""Constraints: what the user asked to hold from now on, in the user's own words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from coppice.compaction.facts.sentences import sentences_of
from coppice.compaction.facts.wording import user_words
from coppice.tree.messages import Message, UserMessage, text_of

_MAX_CHARS: Final = 900
_MIN_CHARS: Final = 4

_OPENER: Final = (
    r"(?:^|[,;:(—–-]\s*|[.]\s+|\b(?:please|and|but|so|just|also|then|to|you|we|pls|btw|ok|okay)[,]?\s+)"
)
_STRONG: Final = re.compile(
    r"\b(?:always|never|must(?:n't)?|shall|mustnt|cannot|forbidden|prohibited|disallowed|mandatory"
    r"|not allowed|no longer|under no circumstances|at all times|from now on|going forward|in (?:the )?future"
    r"|make sure|be sure|ensure|be careful|remember (?:to|that|not)|keep in mind|bear in mind|stick (?:to"
    r"|with)"
    r"|prefer(?:s|red|ably|ence)?|avoid|refrain|instead of|rather than|at most|at least|no more than"
    r"|no less than"
    r"|no (?:longer|fewer) than|required?|requirements?|strictly|convention|constraints?|rule|whenever"
    r"|every time"
    r"|(?:before|after) (?:each|every|any|you|committing|pushing|merging)|under \d|(?:up|limited"
    r"|restricted) to"
    r"|ought to|should(?:n't| not)?|shouldnt|(?:it|they|this|that|these|those|code|tests?) "
    r"(?:have|has|needs?) to)\b"
    rf"|{_OPENER}(?:do not|don['’]?t|no|not|only|use|keep|follow|leave|target|stay|treat)\b"
    r"|^(?:all|every|each|any|nothing|none|everything|nobody|anything)\b",
    re.IGNORECASE,
)
_STRONG_CHINESE: Final = re.compile(
    r"不要|不能|不得|不许|不可|不准|不允许|不应|勿|禁止|严禁|杜绝|避免|必须|必需|务必|一定要|一律|始终|永远"
    r"|总是"
    r"|从不|绝不|绝对|切记|只能|只用|只允许|只可|只在|仅限|仅用|仅使用|应该|应当|应为|需要保持|要求|请用"
    r"|请使用"
    r"|请保持|请确保|确保|保证|统一|记住|记得|以后都|今后|从现在起|从今|每次|每个|所有|凡是|优先|尽量|不再"
    r"|不超过"
    r"|不少于|至多|最多|至少|而不是|改用|不用|无需|(?:^|[，。；、,;\s请你也都就千万])别(?![人的名处墅说扭致])"
)
_WEAK: Final = re.compile(
    rf"{_OPENER}(?:write|put|name|call|store|return|log|format|support|document|indent|sort|validate)\b"
    r"|\b(?:i (?:only )?(?:want|need|expect|would (?:only |rather )?(?:want|like|prefer)"
    r"|['’]d (?:like|prefer))"
    r"|we (?:want|use|need)|need(?:s|ed)? to|has to|have to|only|without|unless|except|exactly|important)\b"
    r"|请|希望|想要|需要|保持|使用|采用|注意|(?<![有作没应费信运])用(?![户途处于来完了过])",
    re.IGNORECASE,
)
_DESCRIPTIVE: Final = re.compile(
    r"\b(?:i|we|they|it|that|this|there|he|she|which|who) (?:really |just |still "
    r"|also )?(?:do(?:es)?n['’]?t|do not|does not"
    r"|did(?:n['’]?t| not)) (?:know|think|see|understand|remember|have|get|care|believe|like|work|seem|mind"
    r"|recall)\b"
    r"|\bdon['’]?t (?:worry|mind|know|think)\b|\bno (?:worries|problem|idea|need)\b|\bnot sure\b"
    r"|\bshould be fine\b"
    r"|\bi (?:should|must|have to|ought)\b|^no,\s|^no (?:thanks|thank)\b|^no[.!]?$|^all i\b"
    r"|\bif you need to\b|^nothing else\b|\bas required\b|没关系|不要紧|不能理解",
    re.IGNORECASE,
)
_QUESTION: Final = re.compile(r"[?？][\"'”)\]]?\s*$|[吗呢][。.!！]?\s*$")
_DEMANDING_QUESTION: Final = re.compile(
    r"\b(?:can|could|would|will) (?:you|we) (?:please |also |just |make it so )*"
    r"(?:always|never|not|only|make sure|keep|avoid|use|stop|we keep)\b|(?:能不能|可不可以|可以|能)(?:不要"
    r"|别|只|总是|一直)",
    re.IGNORECASE,
)
_ANAPHORIC: Final = re.compile(
    r"(?:it|they|them|this|that|these|those|otherwise|same|both|neither|except)\b|[它他这那]|否则",
    re.IGNORECASE,
)


_LIST_ITEM: Final = re.compile(r"\s{0,8}(?:[-*+•]|\d{1,2}[.)、])\s+\S")
_RULES_HEADING: Final = re.compile(
    r"(?:\b(?:rules?|constraints?|requirements?|conventions?|guidelines?|preferences?|remember|always|never"
    r"|must|do not"
    r"|don['’]?t)\b|要求|规则|约束|注意|规范|必须|不要).{0,80}[:：]\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Constraint:
    """`text` is the user's sentence, word for word. `strong` is false for a wish or a way of working."""

    text: str
    strong: bool
    index: int = -1


def constraints_in(messages: Sequence[Message]) -> list[Constraint]:
    """The constraints that user messages state, oldest first, each once.

    No other message is a source: what a tool printed or an assistant wrote never becomes a constraint.
    """
    found: list[Constraint] = []
    for index, message in enumerate(messages):
        if isinstance(message, UserMessage):
            words = user_words(text_of(message.content))
            found += _of_sentences(list(sentences_of(words)), _listed_rules(words), index)
    return distinct(found)


def strength_of(sentence: str) -> bool | None:
    """Whether `sentence` is a strong constraint (True), a weak one (False) or none (None)."""
    if not _MIN_CHARS <= len(sentence) <= _MAX_CHARS:
        return None
    if _QUESTION.search(sentence):
        return False if _DEMANDING_QUESTION.search(sentence) else None
    rest = _DESCRIPTIVE.sub(" ", sentence)
    if _STRONG.search(rest) or _STRONG_CHINESE.search(rest):
        return True
    return False if _WEAK.search(rest) else None


def distinct(constraints: Iterable[Constraint]) -> list[Constraint]:
    """The constraints without those that another one repeats; the first place stands."""
    kept: dict[str, Constraint] = {}
    for constraint in constraints:
        key = _key(constraint.text)
        if key:
            kept.setdefault(key, constraint)
    return list(kept.values())


def _listed_rules(words: str) -> set[str]:
    """The items of lists that are headed as rules, which hold whatever their wording."""
    rules: set[str] = set()
    heading = False
    for line in words.splitlines():
        item = _LIST_ITEM.match(line)
        if item and heading:
            rules.update(sentences_of(line))
        elif line.strip():
            heading = bool(_RULES_HEADING.search(line[:300]))
    return rules


def _of_sentences(sentences: list[str], rules: set[str], index: int) -> list[Constraint]:
    found: list[Constraint] = []
    for number, sentence in enumerate(sentences):
        strong = True if sentence in rules else strength_of(sentence)
        if strong is None or sentence.endswith((":", "：")):
            continue
        if strong and number and _ANAPHORIC.match(sentence) and len(sentences[number - 1]) <= _MAX_CHARS // 3:
            before = sentences[number - 1]
            found = [item for item in found if item.text != before]
            found.append(Constraint(f"{before} {sentence}", strong, index))
        else:
            found.append(Constraint(sentence, strong, index))
    return found


def _key(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" .!。！")
