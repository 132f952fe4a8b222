"""Which of the user's statements a later one replaces: the same with another value, or a change."""

import re
from collections.abc import Iterable
from typing import Final

from coppice.compaction.ledger.carried_out import is_carried_out
from coppice.compaction.ledger.steps import Action
from coppice.compaction.ledger.tasks import is_about_closed, names_task
from coppice.compaction.text.names import names_in
from coppice.compaction.words import any_of, pattern
from coppice.protocol.ledger import Note, WorkLedger

_VALUE: Final = re.compile(r"(?<![\w/.-])[$€£]?\d[\d.,:/-]*%?(?![\w/])")
_STATED_VALUE: Final = re.compile(
    rf"(?:[$€£]|{any_of('STATES_VALUE')}\s?)[$€£]?(\d[\d.,:/-]*)", re.IGNORECASE
)
_REVISED: Final = pattern("REVISED")
_WORD: Final = re.compile(r"[A-Za-z]{2,}|[\u4e00-\u9fff]")
_CHANGED: Final = pattern("CHANGED")
_COMPLETED: Final = pattern("COMPLETED")
_PLACE: Final = re.compile(r"([\w./-]{1,200}\.\w{1,8})`?(?::\d|\s\(lines? \d)")
_SAME: Final = 0.85
"""Share of words that two statements have in common when one is the other with another value (guess)."""
_ABOUT: Final = 0.5  # share of the older statement's words that the newer one has (guess)
_FEWEST_SHARED: Final = 3  # words that both have (guess)
_STEM: Final = 5  # letters of a word that are compared (guess)
_LEADS: Final = {"in_progress": 2, "next_steps": 0}
"""Words before the task that a note is about, as in "Working on T1" (guess)."""
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


def replaces_request(newer: str, older: str) -> bool:
    """Whether a request takes the place of an earlier one. Those that name different things are two."""
    if max(len(newer), len(older)) > _LONGEST or set(names_in(newer)) != set(names_in(older)):
        return False
    values, before = _STATED_VALUE.findall(newer), _STATED_VALUE.findall(older)
    is_revised = bool(_REVISED.search(newer)) or (values and before and values != before)
    return bool(is_revised) and replaces(newer, older)


def drop_replaced(ledger: WorkLedger, newer: str) -> None:
    """Takes out what a new statement of the user's replaces."""
    ledger.rules = [rule for rule in ledger.rules if rule.source or not replaces(newer, rule.text)]
    ledger.requests = [
        each
        for place, each in enumerate(ledger.requests)
        if place == 0 or each.kind != "request" or not replaces_request(newer, each.text)
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


def drop_carried_out(ledger: WorkLedger, action: Action) -> None:
    """Takes out the user's instructions that `action` fulfilled for good."""
    ledger.rules = [rule for rule in ledger.rules if rule.source or not is_carried_out(rule.text, action)]
    ledger.notes = [
        note
        for note in ledger.notes
        if note.section != "constraints" or not is_carried_out(note.text, action)
    ]


def drop_settled_notes(ledger: WorkLedger, closed: set[str]) -> None:
    """Takes out what an earlier summary calls open: tasks just `closed`, commands that work by now.

    What is to be done after a task is closed, or together with an open one, stays.
    """
    if not ledger.notes:
        return
    works = [check.command for check in ledger.checks if check.passed]
    works += [problem.what for problem in ledger.problems if not problem.open]

    def is_settled(note: Note) -> bool:
        if note.section == "blocked":
            return any(command in note.text for command in works)
        lead = _LEADS.get(note.section)
        return (
            lead is not None
            and any(names_task(note.text, each) for each in closed)
            and is_about_closed(note.text, ledger, lead=lead)
        )

    ledger.notes = [note for note in ledger.notes if not is_settled(note)]


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(_VALUE.sub(" ", text).casefold())}
