"""What the user asked for: the first request, and how it changed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from coppice.compaction.facts.constraints import strength_of
from coppice.compaction.facts.sentences import clip, one_line, sentences_of
from coppice.compaction.facts.wording import user_words
from coppice.tree.messages import Message, UserMessage, text_of

_REQUEST_CHARS: Final = 320
_MIN_CHARS: Final = 3
_SMALL_TALK: Final = re.compile(
    r"(?:ok(?:ay)?|yes|yep|yeah|yo|y|no|nope|sure|fine|good|great|nice|wow|cool|thanks?(?: you)?|perfect"
    r"|continue|go(?: on| ahead)?"
    r"|proceed|next|done|please|hi|hello|hey|lgtm|check again|looks? good|do it|again|retry|try again|jesus"
    r"|amazing"
    r"|好的?|是的?|继续|可以|行|嗯|谢谢|没问题|对|不错)[\s,.!。！，]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for in one message, on one line and shortened."""

    text: str
    index: int


def requests_in(messages: Sequence[Message]) -> list[Request]:
    """What the user asked for, oldest first; assent and small talk are left out."""
    found = []
    for index, message in enumerate(messages):
        if isinstance(message, UserMessage):
            words = one_line(user_words(text_of(message.content)))
            if len(words) >= _MIN_CHARS and not is_small_talk(words) and not _only_rules(words):
                found.append(Request(clip(words, _REQUEST_CHARS), index))
    return found


def _only_rules(words: str) -> bool:
    """Whether every sentence is a constraint, which has its own section."""
    return all(strength_of(sentence) for sentence in sentences_of(words))


def is_small_talk(text: str) -> bool:
    """Whether `text` only assents, thanks or says to go on."""
    rest = text
    while rest:
        match = _SMALL_TALK.match(rest)
        if match is None or match.end() == 0:
            return False
        following = rest[match.end() : match.end() + 1]
        if following.isalnum() and following.isascii() and rest[match.end() - 1].isalnum():
            return False
        rest = rest[match.end() :]
    return True
