"""Texts as they are compared: without case, marks and the words that are in every sentence."""

import re
from typing import Final

from coppice.compaction.text.sentences import one_line

_GLUE: Final = frozenset((
    "a", "about", "after", "all", "also", "always", "an", "and", "any", "anything", "are", "as", "at",
    "be", "been", "but", "by", "can", "could", "do", "does", "don", "each", "every", "everything",
    "everywhere", "first", "for", "from", "had", "has", "have", "if", "in", "into", "is", "it", "its",
    "just", "keep", "let", "like", "look", "me", "must", "my", "need", "needed", "needs", "never", "no",
    "not", "now", "of", "on", "one", "only", "or", "our", "out", "please", "should", "so", "some",
    "something", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "those", "to", "too", "use", "used", "user", "uses", "want", "wanted", "wants", "was", "we", "were",
    "what", "when", "where", "which", "while", "who", "why", "will", "with", "without", "would", "you",
    "your",
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
