"""The marks of Markdown, as all rules read them."""

import re
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

FENCE: Final = re.compile(r"\s{0,12}(?:```|~~~)")
CODE: Final = re.compile(r"`[^`]{1,300}`")
ITEM: Final = re.compile(
    r"(?P<indent>\s{0,40})(?:[-*+•]|\d{1,4}[.)、])\s+(?:\[(?P<box>[ xX])\](?:\s+|$))?(?P<text>.*)"
)
"""An item of a list; `box` is what a task's box has."""
HEADING: Final = re.compile(r"\s{0,3}#{1,6}(?=\s|$)")
"""What opens a heading that is no emphasized line."""
_HEADING: Final = re.compile(r"\s{0,3}(?:#{1,6}\s+(\S.{0,160})|\*\*([^*\n]{2,160})\*\*:?)\s*$")


def heading_in(line: str) -> str:
    """The text of a line that is marked as a heading; else empty."""
    match = _HEADING.match(line[:170])
    return match[1] or match[2] if match else ""


def block_quote(text: str) -> str:
    """`text` as a quotation, in which no line opens a section or a block of code."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def opens_html(line: str) -> bool:
    """Whether `line`, which has no indentation, opens a block of HTML for a reader of CommonMark."""
    return line.startswith("<") and block_parser().parse(line)[0].type == "html_block"


@cache
def block_parser() -> "MarkdownIt":
    """Of the blocks of CommonMark; imported when it is first needed, for the service starts without it."""
    from markdown_it import MarkdownIt  # noqa: PLC0415

    parser = MarkdownIt("commonmark").disable("inline")
    parser.parse("x")  # the first time it completes itself, which two threads cannot do at once
    return parser
