"""The lines of a summary that a model is asked to correct, and its answer put in their place."""

import re
from collections.abc import Sequence
from typing import Final

from coppice.compaction.checking.narrative import in_format, safe_text
from coppice.compaction.checking.verification import Claim

_MOST_LINES: Final = 20
"""Lines that are sent back: an answer with more of them is wrong as a whole."""
_ANSWER: Final = re.compile(r"\s{0,8}(\d{1,5})[:.]\s(.*)$")


def lines_to_correct(text: str, claims: Sequence[Claim]) -> str:
    """The lines of `text` with hard claims among `claims`, each after its number and before what is wrong."""
    lines = text.splitlines()
    wrong: dict[int, list[str]] = {}
    for claim in claims:
        if claim.is_hard:
            wrong.setdefault(claim.line, []).append(claim.text)
    return "\n".join(
        f"{number}: {lines[number]}\n   nowhere: {', '.join(dict.fromkeys(texts))}"
        for number, texts in list(wrong.items())[:_MOST_LINES]
    )


def corrected(text: str, answer: str, claims: Sequence[Claim]) -> str:
    """`text` with the lines of `answer` in place of those that hard claims are in.

    Whatever else the answer holds is passed over, and all of it when `text` would leave the format.
    """
    asked = {claim.line for claim in claims if claim.is_hard}
    lines = text.splitlines()
    for line in safe_text(answer).splitlines():
        match = _ANSWER.match(line)
        if match and int(match[1]) in asked and match[2].strip():
            lines[int(match[1])] = match[2].rstrip()
    return in_format("\n".join(lines)) or text
