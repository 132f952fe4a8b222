"""Long messages made short: whole lines are left out of the middle, with a mark that says how many."""

import re
from collections.abc import Sequence
from typing import Final

from coppice.compaction.text.lasting import lasting_sentences
from coppice.compaction.text.sentences import ELISION, clip

_HEAD_SHARE: Final = 0.6
"""Share of the room for the beginning, where people say what they want; pastes mostly follow."""
_LASTING_SHARE: Final = 0.3
"""Share of the room for rules in what is left out."""
_MARK: Final = re.compile(r"\[… ([0-9][0-9,]{0,15}) characters left out[^\]\n]{0,40}\]")
_LONGEST_LINE: Final = 2_000  # characters of one line of a message


def shortened(text: str, limit: int, *, with_rules: bool = True) -> str:
    """`text` in about `limit` characters: its first and last lines, and the user's rules that lie between."""
    share = _LASTING_SHARE if with_rules else 0
    text = text.strip()
    if len(text) <= limit:
        return text
    whole = text.splitlines()
    lines = [clip(line, max(40, min(_LONGEST_LINE, limit // 3))) for line in whole]
    head = _fitting(lines, int(limit * _HEAD_SHARE))
    tail = _fitting(lines[len(head) :][::-1], int(limit * (1 - _HEAD_SHARE - share)))[::-1]
    middle = "\n".join(whole[len(head) : len(whole) - len(tail)])
    if not middle.strip():
        return "\n".join(lines)
    rules = _fitting(lasting_sentences(middle), int(limit * share)) if with_rules else []
    earlier = sum(int(mark[1].replace(",", "")) - len(mark[0]) for mark in _MARK.finditer(middle))
    left_out = f"{len(middle) + earlier:,} characters left out"
    mark = f"[… {left_out}{', with these sentences in them:' if rules else ''} …]"
    return "\n".join([*head, mark, *rules, *([ELISION] if rules and tail else []), *tail]).strip()


def _fitting(lines: Sequence[str], room: int) -> list[str]:
    chosen: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        chosen.append(line)
    return chosen
