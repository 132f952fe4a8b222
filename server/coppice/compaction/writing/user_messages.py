"""The section of a summary that quotes the user's messages, newest first, within its room."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from coppice.compaction.asking.summarizer import CountTokens
from coppice.compaction.checking.narrative import safe_text
from coppice.compaction.facts.user import only_rules
from coppice.compaction.text.markdown import block_quote
from coppice.compaction.text.sentences import in_quotes
from coppice.compaction.text.shortening import shortened
from coppice.compaction.text.statements import USER_MESSAGES
from coppice.escapes import WRITTEN_SEQUENCE
from coppice.protocol.ledger import LedgerMessage
from coppice.tree.tags import CLOSING, OPENING, escape_tags, imitations_of, seen

HEADING: Final = f"## {USER_MESSAGES}"
_ORIGIN: Final = "Quoted, newest first."
_NEWEST: Final = 6
"""Messages that are there however little room there is."""
_NEWEST_SHARE: Final = 0.5
"""Share of the room for them; the first message and the rules of older ones have the rest."""
_LENGTHS: Final = (6_000, 2_000, 1_000, 500, 240, 120)
"""Characters to which the newest messages are shortened until they fit."""
_ROUND: Final = str.maketrans(OPENING + CLOSING, len(OPENING) * "(" + len(CLOSING) * ")")
"""Brackets that could end the label before a message, or look like it."""
_USERS: Final = ("user", "answer", "refusal")
_LABELS: Final = {
    "user": "", "answer": "answer to: ", "refusal": "refused: ", "developer": "developer", "system": "system",
    "memory": "memory file", "extension": "extension",
}  # fmt: skip
_WORDS: Final = "|".join(map(imitations_of, (*(w.rstrip(": ") for w in _LABELS.values() if w), "shortened")))
_LIKE_LABEL: Final = re.compile(
    rf"(?:[\s*_`]|{WRITTEN_SEQUENCE})*[{re.escape(OPENING)}]\s*+(?:[#＃﹟]|(?:{_WORDS})\s*+[,:：{re.escape(CLOSING)}])"
)
"""How a line begins that could pass for the label before a message."""


def user_messages_section(
    messages: Sequence[LedgerMessage], room: int, count: CountTokens, references: Mapping[str, str]
) -> str:
    """The section in at most `room` tokens; empty without messages, or where none fits.

    The newest messages are always there, shortened where they must be; then the first one; then the rules of
    developer, system and memory files, and the sentences of older messages that last; then the rest of those.
    """
    text = f"{HEADING}\n{_ORIGIN}"
    left = room - count(text) - 2
    shown = dict(_newest(messages, left, count, references))
    left -= sum(count(f"{quoted}\n\n") for quoted in shown.values())
    older = [place for place in _by_importance(messages) if place not in shown]
    for forms in (_rules_first, _candidates):
        for place in older:
            before = count(f"{shown[place]}\n\n") if place in shown else 0
            for candidate in forms(messages[place], place):
                if place in shown and candidate.shortened:
                    continue  # its rules may be what is left out
                quoted = _quoted(candidate, references)
                cost = count(f"{quoted}\n\n") - before
                if cost <= left:
                    shown[place] = quoted
                    left -= cost
                    break
    newest_first = [shown[place] for place in sorted(shown, reverse=True)]
    return "\n\n".join([text, *newest_first]) if newest_first else ""


def _newest(
    messages: Sequence[LedgerMessage], room: int, count: CountTokens, references: Mapping[str, str]
) -> list[tuple[int, str]]:
    """The newest messages of the user with their places, in the greatest length at which they fit."""
    places = [n for n, each in enumerate(messages) if each.source in _USERS][-_NEWEST:]
    share = int(room * (_NEWEST_SHARE if len(messages) > len(places) else 1))
    for length in _LENGTHS:
        quoted = [(n, _quoted(_short(messages[n], length), references)) for n in places]
        if sum(count(f"{text}\n\n") for _, text in quoted) <= share:
            return quoted
    fitting: list[tuple[int, str]] = []
    for n, text in reversed(quoted):
        room -= count(f"{text}\n\n")
        if room < 0:
            break
        fitting.append((n, text))
    return fitting


def _by_importance(messages: Sequence[LedgerMessage]) -> list[int]:
    """Rules of applications and memory files, then the others from both ends: the first ones say what the
    work is, and the newest ones where it is.
    """
    places = range(len(messages))
    rules = [n for n in places if messages[n].source not in _USERS]
    others = [n for n in places if messages[n].source in _USERS]
    both = [n for pair in zip(others, reversed(others), strict=True) for n in pair]
    return list(dict.fromkeys([*both[:1], *reversed(rules), *both]))


def _rules_first(message: LedgerMessage, place: int) -> list[LedgerMessage]:
    """The forms of an older message that come before the rest of any other: the first one, and rules."""
    if not place:
        return _candidates(message, place)
    rules = only_rules(message)
    return [] if rules is None else [rules]


def _candidates(message: LedgerMessage, place: int) -> list[LedgerMessage]:
    """The forms in which an older message may be shown, the longest first."""
    return [_short(message, length) for length in (_LENGTHS[2:4] if place else _LENGTHS[1:])]


def _short(message: LedgerMessage, length: int) -> LedgerMessage:
    text = shortened(message.text, length, with_rules=message.source in _USERS)
    cut = message.shortened or len(text) < len(message.text)
    return message.model_copy(update={"text": text, "shortened": cut})


def _quoted(message: LedgerMessage, references: Mapping[str, str]) -> str:
    reference = f"#{references[message.entry_id]}" if message.entry_id in references else ""
    label = ", ".join(
        filter(
            None,
            (
                reference,
                f"{_LABELS[message.source]}{in_quotes(message.about) if message.about else ''}".strip(),
                "shortened" if message.shortened else "",
            ),
        )
    )
    head = [f"[{escape_tags(label).translate(_ROUND)}]"] if label else []
    text = safe_text(message.text)
    lines = [f"\\{line}" if _LIKE_LABEL.match(seen(line)[0]) else line for line in text.splitlines()]
    if message.source not in _USERS:
        lines = [line for line in lines if line.strip()]
    return block_quote("\n".join([*head, *lines]))
