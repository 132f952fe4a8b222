"""What a model told in sentences of its own, without the format: which of it is a report of the material."""

import re
from typing import Final

from coppice.compaction.facts.identifiers import identifiers_in
from coppice.compaction.facts.sentences import one_line, sentences_of
from coppice.compaction.prompts import normalized
from coppice.compaction.repairs import mended
from coppice.compaction.summary import SPLIT_TURN_HEADING
from coppice.tree.messages import AssistantMessage, text_of

_MOST_SENTENCES: Final = 6
_LONGEST: Final = 400
_FEWEST_WORDS: Final = 4
_BORNE_OUT: Final = 0.5
_BORNE_OUT_WITH_A_NAME: Final = 0.3
_SHORTEST_WORD: Final = 4
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


def sentences_told(message: AssistantMessage, leaks: frozenset[str], material: str) -> tuple[str, ...]:
    """The sentences of `message` that report on `material`, each one line; none when it is no report.

    What is left out: calls, thinking, our own sentences, what speaks to somebody, half sentences, and what
    the material does not bear out: half of a sentence's words must stand there, and every exact name; with
    a name fewer words will do.
    """
    cut_off = message.stop_reason == "length"
    text = mended(text_of(message.content), leaks, cut_off=cut_off).text
    words = set(_words(material))
    names = {name for name, _ in identifiers_in(material)}
    told = []
    for raw in sentences_of(text):
        sentence = one_line(raw.replace("**", ""))
        if _is_report(sentence) and _is_borne_out(sentence, words, names):
            told.append(sentence)
    return tuple(dict.fromkeys(told))[:_MOST_SENTENCES]


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
    said = _words(sentence)
    known = sum(word in words for word in said)
    named = [name for name, _ in identifiers_in(sentence)]
    least = _BORNE_OUT_WITH_A_NAME if named else _BORNE_OUT
    return len(said) >= _FEWEST_WORDS and known >= least * len(said) and names.issuperset(named)


def _words(text: str) -> list[str]:
    """The words that carry meaning; of Chinese, pairs of characters."""
    found = []
    for word in normalized(text).split():
        if word.isascii():
            if len(word) >= _SHORTEST_WORD:
                found.append(word)
        else:
            found += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
    return found
