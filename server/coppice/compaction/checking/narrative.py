"""A model's text as it is stored: its own words, with nothing in it that acts outside of it."""

import re
from typing import TYPE_CHECKING, Final

from coppice.compaction.summary import HEADINGS, NONE
from coppice.compaction.text.markdown import HEADING, block_parser
from coppice.escapes import without_sequences
from coppice.tree.tags import escape_tags

if TYPE_CHECKING:
    from markdown_it.token import Token

_EMPTY: Final = re.compile(
    rf"^({'|'.join(heading for heading in HEADINGS if heading != '## Progress')})[ \t]*(?:\n|\Z)"
    r"(?=\s*(?:#{1,6}\s|\Z))",
    re.MULTILINE,
)
_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters but for tab and line feed, separators of lines, and what turns the direction of text."""
_LONGEST: Final = 60_000
"""Characters of a summary that is parsed as Markdown: 15,000 tokens, for which the parser takes 0.5 s."""
_NEXT: Final = "# Next"
"""The heading of what is appended to the text, in its place."""


def in_format(text: str) -> str | None:
    """`text`, which is safe, as it is stored: with `with_inert_items`. None where it is not in the format."""
    if len(text) > _LONGEST:
        return None
    tokens = _blocks(text)
    inert = _with_inert_items(text, tokens)
    return inert if _is_in_format(inert, tokens if inert == text else _blocks(inert)) else None


def is_in_format(text: str) -> bool:
    """Whether `text`, which is safe, has the headings of the format, each once and in order, and no other.

    Headings are those that a reader of CommonMark sees, and what looks like one to others. No block of code
    or comment is open at the end.
    """
    return _is_in_format(text, _blocks(text))


def with_inert_items(text: str) -> str:
    """`text` with a backslash before each "#" that makes a heading of a line in a list or a quotation."""
    return _with_inert_items(text, _blocks(text))


def _blocks(text: str) -> "list[Token]":
    return block_parser().parse(_followed(text))


def _followed(text: str) -> str:
    return f"{text}\n\n{_NEXT}"


def _is_in_format(text: str, blocks: "list[Token]") -> bool:
    deepest = block_parser().options.maxNesting - 1
    lines = [line.rstrip() for line in _followed(text).split("\n")]
    headings: list[str] = []
    code: set[int] = set()
    for token in blocks:
        if token.level >= deepest:
            return False  # the parser passes over what is inside
        if token.map and token.type == "heading_open":
            headings.append(lines[token.map[0]])
        elif token.map and token.type == "fence":
            code.update(range(*token.map))
    written = [line for number, line in enumerate(lines) if number not in code and HEADING.match(line)]
    return headings == written == [*HEADINGS, _NEXT]


def _with_inert_items(text: str, blocks: "list[Token]") -> str:
    lines = text.split("\n")
    for token in blocks:
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
