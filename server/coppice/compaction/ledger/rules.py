"""Constraints: what the user asked to hold from now on, in the user's own words."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from coppice.compaction.text.comparing import spelling
from coppice.compaction.text.markdown import ITEM
from coppice.compaction.text.sentences import one_line, sentences_of
from coppice.compaction.words import any_of, english, pattern, raw
from coppice.protocol.ledger import Rule

_MAX_CHARS: Final = 900
"""A longer sentence is no single rule (guess)."""
_MIN_CHARS: Final = 4  # characters of a rule (guess)
_OPENER: Final = rf"(?:^|[,;:(—–-]\s*|[.]\s+|\b(?:{english.CLAUSE_OPENER})[,]?\s+)"
_STRONG: Final = re.compile(
    rf"{any_of('ALWAYS')}|{_OPENER}(?:{english.ORDER})\b|^(?:{english.QUANTIFIER})\b", re.IGNORECASE
)
_STRICT: Final = pattern("STRICT")
_HARNESS: Final = pattern("HARNESS")
_WISH: Final = re.compile(rf"{_OPENER}(?:{english.WISH})\b", re.IGNORECASE)
_WISHED: Final = pattern("WISHED")
_LASTING: Final = pattern("LASTING")
_DESCRIPTIVE: Final = re.compile(raw("NO_ORDER"), re.IGNORECASE)
_QUESTION: Final = re.compile(r"[?？][\"'”)\]]?\s*$|[吗呢][。.!！]?\s*$")
_DEMANDING_QUESTION: Final = re.compile(raw("POLITE_ORDER"), re.IGNORECASE)
_REFERS_BACK: Final = re.compile(raw("REFERS_BACK"), re.IGNORECASE)
_ASIDE: Final = re.compile(r"\([^()]{0,900}\)")
_RULES_HEADING: Final = re.compile(rf"{any_of('RULES_HEADING')}.{{0,80}}[:：]\s*$", re.IGNORECASE)


def rules_in(words: str, *, source: str = "", entry: str = "") -> list[Rule]:
    """The constraints in `words`, oldest first. `source` is empty for what the user typed."""
    listed = _listed_rules(words)
    sentences = list(sentences_of(words))
    found: list[Rule] = []
    for number, sentence in enumerate(sentences):
        strong = True if sentence in listed else strength_of(sentence)
        if strong is None or sentence.endswith((":", "：")):
            continue
        text = sentence
        before = sentences[number - 1] if number else ""
        if strong and before and _REFERS_BACK.match(sentence) and len(before) <= _MAX_CHARS // 3:
            found = [rule for rule in found if rule.text != before]
            text = f"{before} {sentence}"
        found.append(Rule(entry_id=entry, text=text, strong=strong, source=source))
    return found


def strength_of(sentence: str) -> bool | None:
    """Whether `sentence` is a strong constraint (True), a weak one (False) or none (None)."""
    if not _MIN_CHARS <= len(sentence) <= _MAX_CHARS:
        return None
    if _QUESTION.search(sentence):
        return False if _DEMANDING_QUESTION.search(sentence) else None
    rest = _DESCRIPTIVE.sub(" ", _ASIDE.sub(" ", sentence))
    if _STRONG.search(rest):
        return True
    is_wish = _WISHED.search(rest) or (_WISH.search(rest) and _LASTING.search(rest))
    return False if is_wish else None


def instructions_in(text: str) -> Iterator[str]:
    """The lines of instructions nobody typed that order or forbid something about the work.

    How the assistant is to call its tools is stated anew by each harness. A line that introduces the next one
    is given with it.
    """
    lines = [line for raw in text.splitlines() if (line := one_line(raw.replace("**", "")).lstrip("-*•# "))]
    for line, following in pairwise([*lines, ""]):
        if len(line) > _MAX_CHARS or not _STRICT.search(line) or _HARNESS.search(line):
            continue
        yield f"{line} {following}" if line.endswith((":", "：")) else line


def distinct(rules: Iterable[Rule]) -> list[Rule]:
    """The rules without those that another one repeats; the first one stays."""
    kept: dict[str, Rule] = {}
    for rule in rules:
        if key := spelling(rule.text):
            kept.setdefault(key, rule)
    return list(kept.values())


def _listed_rules(words: str) -> set[str]:
    """The items of lists that are headed as rules, which hold whatever their wording."""
    rules: set[str] = set()
    heading = False
    for line in words.splitlines():
        if heading and ITEM.match(line):
            rules.update(sentences_of(line))
        elif line.strip():
            heading = bool(_RULES_HEADING.search(line[:300]))
    return rules
