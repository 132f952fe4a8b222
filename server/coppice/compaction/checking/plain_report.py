"""The sentences of a model that cannot keep to the format: which of them report on the material."""

import re
from typing import Final

from coppice.compaction.checking.cleanup import cleaned
from coppice.compaction.summary import SPLIT_TURN_HEADING
from coppice.compaction.text.comparing import normalized
from coppice.compaction.text.names import names_in
from coppice.compaction.text.sentences import one_line, sentences_of
from coppice.tree.messages import AssistantMessage, text_of

_MOST_SENTENCES: Final = 6  # sentences that are taken: twice as many as are asked for
_LONGEST: Final = 400  # characters of a sentence; none of 3,624 recorded ones has more
_FEWEST_WORDS: Final = 4  # words of a sentence (guess)
_BORNE_OUT: Final = 0.5  # share of its words that the material must have (guess)
_BORNE_OUT_WITH_A_NAME: Final = 0.3  # likewise where an exact name is among them (guess)
_SHORTEST_WORD: Final = 4  # letters of a word that counts (guess)
_ENDING: Final = re.compile(r"[.!。！”\"')`]$")
_SPEAKS: Final = re.compile(
    r"\b(?:i|i['’]\w+|let['’]s|my|me|we|we['’]\w+|our|us|you|you['’]\w+|your)\b|[我你您]|[?？]$",
    re.IGNORECASE,
)
_ABOUT_ITSELF: Final = re.compile(
    r"\s*(?:\[|here (?:is|are)\b|in (?:summary|conclusion)\b"
    r"|(?:the |this )?(?:conversation|summary|chat|notes)(?: above)?"
    r" (?:summari[sz]es|is about|highlights|covers))",
    re.IGNORECASE,
)
_ABOUT_THE_REQUEST: Final = re.compile(
    r"\b(?:work|conversation|information|mentioned) above\b|\b(?:the|this) report\b|\bthree sentences\b"
    r"|^this (?:helps|shows|means)\b",
    re.IGNORECASE,
)


def reported_sentences(message: AssistantMessage, leaks: frozenset[str], material: str) -> tuple[str, ...]:
    """The sentences of `message` that report on `material`, each one line; none when it is no report.

    What is left out: calls, thinking, our own sentences, what speaks to somebody, half sentences, and what
    the material does not bear out: half of a sentence's words must be there, and every exact name; with
    a name fewer words will do.
    """
    cut_off = message.stop_reason == "length"
    text = cleaned(text_of(message.content), leaks, cut_off=cut_off).text
    words = set(_words(material))
    names = set(names_in(material))
    stated = []
    for raw in sentences_of(text):
        sentence = one_line(raw.replace("**", ""))
        if _is_report(sentence) and _is_borne_out(sentence, words, names):
            stated.append(sentence)
    return tuple(dict.fromkeys(stated))[:_MOST_SENTENCES]


def _is_report(sentence: str) -> bool:
    return (
        len(sentence) <= _LONGEST
        and bool(_ENDING.search(sentence))
        and not _SPEAKS.search(sentence)
        and not _ABOUT_ITSELF.match(sentence)
        and not _ABOUT_THE_REQUEST.search(sentence)
        and SPLIT_TURN_HEADING not in sentence
    )


def _is_borne_out(sentence: str, words: set[str], names: set[str]) -> bool:
    own = _words(sentence)
    shared = sum(word in words for word in own)
    named = list(names_in(sentence))
    least = _BORNE_OUT_WITH_A_NAME if named else _BORNE_OUT
    return len(own) >= _FEWEST_WORDS and shared >= least * len(own) and names.issuperset(named)


def _words(text: str) -> list[str]:
    """The words that carry meaning; of Chinese, pairs of characters."""
    words = []
    for word in normalized(text).split():
        if word.isascii():
            if len(word) >= _SHORTEST_WORD:
                words.append(word)
        else:
            words += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
    return words
