"""Which sentences before a change give a reason that outlasts it, by the words that join and date sentences.

Such words are few and the same in every project. Both lists are measured on the labelled sentences of
tests/compaction/reason_sentences.tsv.
"""

import re
from typing import Final

from coppice.compaction.text.markdown import CODE
from coppice.compaction.text.sentences import QUESTION_MARKS, sentences_of

_JOINS: Final = re.compile(
    r"\b(?:because|since|so|instead of|rather than|otherwise|unless|without|cannot|no|not|never|only|which)\b"
    r"|n['’]t\b|因为|由于|所以|因此|否则|以免|避免|而不是|不能|无法|不支持|只能|只有",
    re.IGNORECASE,
)
"""Words that give a cause, a contrast or a limit."""
_DATES: Final = re.compile(
    r"\b(?:now|next|yet|still|then|first|already|again|just|before|after|once|currently|temporary|until|meanwhile"
    r"|let me|let['’]s)\b|现在|接下来|然后|让我|还没|还不|暂时|正在|再|先",
    re.IGNORECASE,
)
"""Words that place a sentence in the order of steps."""


def is_reason(sentence: str) -> bool:
    """Whether `sentence` gives a cause, a contrast or a limit, and no step."""
    return bool(_JOINS.search(CODE.sub("", sentence))) and not is_step(sentence)


def is_step(sentence: str) -> bool:
    """Whether `sentence` places something in the order of steps."""
    return bool(_DATES.search(CODE.sub("", sentence)))


def reason_in(text: str) -> str:
    """What `text`, written before a change, says beyond its steps; empty where it gives no reason, where it
    asks, and where it is one sentence, which names the change.
    """
    sentences = list(sentences_of(text))
    if len(sentences) == 1 or text.endswith(QUESTION_MARKS) or not any(map(is_reason, sentences)):
        return ""
    return " ".join(each for each in sentences if not is_step(each))
