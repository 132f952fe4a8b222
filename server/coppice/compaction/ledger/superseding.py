"""Which of the user's statements a later one replaces: the same with another value, or a change."""

import re
from collections.abc import Iterable
from typing import Final

from coppice.compaction.words import pattern
from coppice.protocol.ledger import WorkLedger

_VALUE: Final = re.compile(r"(?<![\w/.-])[$€£]?\d[\d.,:/-]*%?(?![\w/])")
_WORD: Final = re.compile(r"[A-Za-z]{2,}|[\u4e00-\u9fff]")
_CHANGED: Final = pattern("CHANGED")
_COMPLETED: Final = pattern("COMPLETED")
_PLACE: Final = re.compile(r"([\w./-]{1,200}\.\w{1,8})`?(?::\d|\s\(lines? \d)")
_SAME: Final = 0.85
"""Share of words that two statements have in common when one is the other with another value (guess)."""
_ABOUT: Final = 0.5  # share of the older statement's words that the newer one has (guess)
_FEWEST_SHARED: Final = 3  # words that both have (guess)
_STEM: Final = 5  # letters of a word that are compared (guess)
_LONGEST: Final = 300  # characters; longer statements are about more than one thing (guess)


def replaces(newer: str, older: str) -> bool:
    """Whether `newer` takes the place of `older`; two rules that only look alike stay both."""
    if max(len(newer), len(older)) > _LONGEST or newer == older:
        return False
    one, other = _stems(newer), _stems(older)
    shared = one & other
    values, before = set(_VALUE.findall(newer)), set(_VALUE.findall(older))
    if values and before and values != before and one and len(shared) >= _SAME * len(one | other):
        return True
    return bool(_CHANGED.search(newer)) and len(shared) >= max(_FEWEST_SHARED, _ABOUT * len(other))


def drop_replaced(ledger: WorkLedger, newer: str) -> None:
    """Takes out what a new statement of the user's replaces."""
    ledger.rules = [rule for rule in ledger.rules if rule.source or not replaces(newer, rule.text)]
    ledger.requests = [
        each
        for place, each in enumerate(ledger.requests)
        if place == 0 or each.kind != "request" or not replaces(newer, each.text)
    ]


def drop_overtaken(ledger: WorkLedger, changed: Iterable[str]) -> None:
    """Takes out findings about lines of files that were `changed` since: they are settled, or elsewhere now.

    What was done, decided and published stays.
    """
    paths = [f"/{path}" for path in changed]
    ledger.statements = [
        each
        for each in ledger.statements
        if each.kind not in ("finding", "review", "plan")
        or _COMPLETED.search(each.text)
        or not (places := _PLACE.findall(each.text))
        or not all(any(path.endswith(f"/{place}") for path in paths) for place in places)
    ]


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(_VALUE.sub(" ", text).casefold())}
