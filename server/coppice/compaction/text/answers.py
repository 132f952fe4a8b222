"""Answers of a user: whether a message is one, and whether it decides something that a reader understands.

Measured on the labelled messages of tests/compaction/replies.tsv and decisions.tsv.
"""

import re
from typing import Final

from coppice.compaction.text.comparing import words_in

_ANSWER: Final = re.compile(
    r"(?:yes|yeah|yep|yup|ok|okay|sure|no|nope|nah|please|go|do|both|all|neither|none|either|option|[a-d1-9])\b"
    r"|好|是|可以|行|对|嗯|不|都|第|选"
)
_REFUSES: Final = re.compile(r"(?:no|nope|nah)\b|不|没有")
_BARE: Final = re.compile(
    r"(?:(?:yes|yeah|yep|yup|ok|okay|sure|no|nope|nah|please|go ahead|go|do(?: it| so)?|not needed|thanks"
    r"|thank you|great|perfect)\b\W*|(?:好的?|是的?|可以|行|对|嗯|不用?|没有|了|吧|谢谢)\W*)+"
)
"""Agrees or refuses, and says nothing else."""
_OPEN: Final = re.compile(r"(?:what|why|how|where|who|when|anything|can i help)\b|.*(?:什么|怎么|为何)")
"""Begins a question that is not answered by a choice."""
_OFFERS: Final = re.compile(r"\b(?:or|which)\b|还是|哪")
_REFERS: Final = re.compile(
    r"\b(?:this|that|these|those|it|them|all \d+)\b(?:\W+\w+){0,3}\W*$|^(?:is|does) |这|那"
)
"""Asks about what was written before."""
_GOES_ON: Final = re.compile(r"\b(?:start|continue|proceed|go on|ready)\b|继续|开始")
"""Asks whether to go on with what is planned."""
_PERSONS: Final = frozenset(("i", "me", "you", "we"))


def is_answer(text: str) -> bool:
    """Whether a message begins like an answer to a question that is answered by yes, no or a choice."""
    return bool(_ANSWER.match(text.strip().lower()))


def is_bare(answer: str) -> bool:
    """Whether a message agrees or refuses and says nothing else."""
    return bool(_BARE.fullmatch(answer.strip().lower()))


def decides(question: str, answer: str) -> bool:
    """Whether `answer` chooses, or agrees to or refuses a proposal that the question itself names."""
    asked, replied = question.strip().lower(), answer.strip().lower()
    if _OPEN.match(asked):
        return False
    if is_bare(replied):
        return not any(each.search(asked) for each in (_OFFERS, _REFERS, _GOES_ON))
    first = _ANSWER.match(replied)
    agrees = first is not None and is_bare(first[0]) and not _REFUSES.match(replied)
    if agrees and re.search(r"\bor\b|还是", asked):
        return bool((words_in(asked) & words_in(replied)) - _PERSONS)
    return not (agrees and _GOES_ON.search(asked))
