"""A model's text as it is stored: its own words, with nothing in it that acts outside of it."""

import re
from typing import Final

from coppice.compaction.summary import HEADINGS, NONE
from coppice.compaction.text.markdown import HEADING, block_parser
from coppice.escapes import without_sequences
from coppice.tree.tags import escape_tags

_EMPTY: Final = re.compile(
    rf"^({'|'.join(heading for heading in HEADINGS if heading != '## Progress')})[ \t]*(?:\n|\Z)"
    r"(?=\s*(?:#{1,6}\s|\Z))",
    re.MULTILINE,
)
_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters but for tab and line feed, separators of lines, and what turns the direction of text."""
_LONGEST: Final = 100_000
"""Characters of a summary that is parsed as Markdown: 25,000 tokens, for which the parser takes 0.8 s."""
_NEXT: Final = "# Next"
"""The heading of what is appended to the text, in its place."""


def in_format(text: str) -> str | None:
    """`text`, which is safe, as it is stored: with `with_inert_items`. None where it is not in the format."""
    if len(text) > _LONGEST:
        return None
    inert = with_inert_items(text)
    return inert if is_in_format(inert) else None


def is_in_format(text: str) -> bool:
    """Whether `text`, which is safe, has the headings of the format, each once and in order, and no other.

    Headings are those that a reader of CommonMark sees, and what looks like one to others. No block of code
    or comment is open at the end.
    """
    parser = block_parser()
    text = f"{text}\n\n{_NEXT}"
    lines = [line.rstrip() for line in text.split("\n")]
    headings: list[str] = []
    code: set[int] = set()
    for token in parser.parse(text):
        if token.level + 1 >= parser.options.maxNesting:
            return False  # the parser passes over what is inside
        if token.map and token.type == "heading_open":
            headings.append(lines[token.map[0]])
        elif token.map and token.type == "fence":
            code.update(range(*token.map))
    written = [line for number, line in enumerate(lines) if number not in code and HEADING.match(line)]
    return headings == written == [*HEADINGS, _NEXT]


def with_inert_items(text: str) -> str:
    """`text` with a backslash before each "#" that makes a heading of a line in a list or a quotation."""
    lines = text.split("\n")
    for token in block_parser().parse(text):
        if token.map and token.type == "heading_open" and token.level and token.markup.startswith("#"):
            number = token.map[0]
            lines[number] = lines[number].replace("#", "\\#", 1)
    return "\n".join(lines)


def with_none(text: str) -> str:
    """`text`, which is in the format, with "(none)" under each heading that has nothing."""
    return _EMPTY.sub(rf"\1\n{NONE}\n", text).rstrip("\n")


def safe_text(text: str) -> str:
    """`text` without escape sequences and control characters, unable to open or close a tag of ours. All else
    stays.
    """
    return escape_tags(_UNSAFE.sub(" ", without_sequences(text.replace("\r\n", "\n"))))
