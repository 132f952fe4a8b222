"""A model's text as it is stored: its own words, with nothing in it that acts outside of it."""

import re
from typing import Final

from coppice.compaction.summary import HEADINGS, NONE
from coppice.compaction.text.markdown import FENCE, HEADING
from coppice.tree.tags import escape_tags

_EMPTY: Final = re.compile(
    rf"^({'|'.join(heading for heading in HEADINGS if heading != '## Progress')})[ \t]*(?:\n|\Z)"
    r"(?=\s*(?:#{1,6}\s|\Z))",
    re.MULTILINE,
)
_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters but for tab and line feed, separators of lines, and what turns the direction of text."""


def is_in_format(text: str) -> bool:
    """Whether `text` has the headings of the format, each once and in order, no other, and no open fence."""
    headings: list[str] = []
    fenced = False
    for line in text.splitlines():
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and HEADING.match(line):
            headings.append(line.rstrip())
    return not fenced and tuple(headings) == HEADINGS


def with_none(text: str) -> str:
    """`text`, which is in the format, with "(none)" under each heading that has nothing."""
    return _EMPTY.sub(rf"\1\n{NONE}\n", text).rstrip("\n")


def safe_text(text: str) -> str:
    """`text` without control characters, unable to open or close a tag of ours. All else stays."""
    return escape_tags(_UNSAFE.sub(" ", text.replace("\r\n", "\n")))
