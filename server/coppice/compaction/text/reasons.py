"""Which sentences before a change give a reason that outlasts it, by the words that join and date sentences.

Such words are few and the same in every project. Both lists are measured on the labelled sentences of
tests/compaction/reason_sentences.tsv.
"""

import re
from collections.abc import Iterator
from itertools import dropwhile
from typing import Final

from coppice.compaction.text.markdown import CODE
from coppice.compaction.text.names import names_in
from coppice.compaction.text.sentences import QUESTION_MARKS, SHORTEST, sentences_of
from coppice.compaction.text.statements import statements_of

_JOINS: Final = re.compile(
    r"\b(?:because|since|so|instead of|rather than|otherwise|unless|without|cannot|no|not|never|only|which)\b"
    r"|n['’]t\b|因为|由于|所以|因此|否则|以免|避免|而不是|不能|无法|不支持|只能|只有",
    re.IGNORECASE,
)
"""Words that give a cause, a contrast or a limit."""
_DATES: Final = re.compile(
    r"\b(?:now|next|yet|still|then|first|already|again|before|after|once|currently|temporary|until|meanwhile"
    r"|let me|let['’]s)\b|现在|接下来|然后|让我|还没|还不|暂时|正在|再|先",
    re.IGNORECASE,
)
"""Words that place a sentence in the order of steps."""

_REFERS: Final = ("it ", "it'", "it’", "this", "that", "these", "those", "they", "这", "那", "它")
"""How a sentence begins that is about what the one before it names."""


def is_reason(sentence: str) -> bool:
    """Whether `sentence` gives a cause, a contrast or a limit, and no step."""
    return bool(_JOINS.search(CODE.sub("", sentence))) and not is_step(sentence)


def is_step(sentence: str) -> bool:
    """Whether `sentence` places something in the order of steps."""
    return bool(_DATES.search(CODE.sub("", sentence)))


def reason_in(text: str, *, after_failure: bool = False) -> str:
    """What `text`, written before a change, says beyond its steps; empty where it gives no reason, where it
    asks, and where it is one sentence, which names the change. After a failure what names something is a
    reason, too.
    """
    sentences = list(sentences_of(text))
    rest = " ".join(_between_steps(sentences))
    names = after_failure and any(names_in(rest))
    gives_one = names or (len(sentences) > 1 and any(map(is_reason, sentences)))
    return rest if gives_one and not text.endswith(QUESTION_MARKS) else ""


def reasons_in(text: str) -> Iterator[str]:
    """The sentences of a Markdown text that give a reason, in themselves or in what introduces them, but for
    questions.
    """
    for statement in statements_of(text):
        for sentence in sentences_of(statement):
            if any(map(is_reason, sentence.split(": "))) and not sentence.endswith(QUESTION_MARKS):
                yield sentence


def _between_steps(sentences: list[str]) -> list[str]:
    """`sentences` without the steps at both ends, but for the one that the next sentence refers to, and
    without short first ones, such as "You're right.".
    """
    sentences = list(dropwhile(lambda each: len(each.encode()) < SHORTEST, sentences))
    while sentences and is_step(sentences[-1]):
        sentences = sentences[:-1]
    while sentences and is_step(sentences[0]) and not sentences[1].lower().startswith(_REFERS):
        sentences = sentences[1:]
    return sentences
