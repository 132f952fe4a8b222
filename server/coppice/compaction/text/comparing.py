"""Texts as they are compared: without case, marks and the words that are in every sentence."""

import re
from typing import Final

from coppice.compaction.text.sentences import one_line

_GLUE: Final = frozenset((
    "a", "an", "and", "are", "as", "be", "by", "do", "for", "in", "is", "it", "not", "of", "on", "or",
    "please", "that", "the", "this", "to", "user",
))  # fmt: skip


def normalized(text: str) -> str:
    """`text` as it is compared: small letters and digits, single spaces."""
    return " ".join(re.findall(r"\w+", one_line(text).casefold()))


def words_in(text: str) -> set[str]:
    """Words for comparing; of Chinese, pairs of characters."""
    words = set()
    for word in normalized(text).split():
        if word.isascii():
            words.add(word)
        else:
            words.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
    return {word for word in words if word not in _GLUE}
