"""Statements of a Markdown text: its paragraphs, and the items of its lists with what introduces them."""

from collections.abc import Iterator
from typing import Final

from coppice.compaction.text.markdown import FENCE, ITEM, heading_in
from coppice.compaction.text.sentences import one_line, sentences_of

USER_MESSAGES: Final = "User Messages"
"""The heading of the user's words in a document. What a text has under it may not pass for them."""
_MOST_CHARS: Final = 20_000
"""Characters of a text that are read; the longest recorded report has 9,000."""
_INTRODUCES: Final = (":", "：")
_NO_PROSE: Final = ("|", "::", "---", "===")
_LONGEST: Final = 600
"""Characters of one statement; a longer paragraph is divided at its sentences."""


def statements_of(text: str) -> Iterator[str]:
    """The statements in order, each on one line: sentences of a paragraph together, items of a list after
    what introduces them, as many as make one statement. Code and tables are left out, with what introduces
    them.
    """
    intro, items, paragraph, code = "", list[str](), list[str](), False
    for line in [*text[:_MOST_CHARS].splitlines(), ""]:
        if FENCE.match(line):
            code = not code
            paragraph = [] if paragraph and paragraph[-1].endswith(_INTRODUCES) else paragraph
            intro = "" if not paragraph and not items else intro
            continue
        if code or line.lstrip().startswith(_NO_PROSE):
            continue
        item, titled = ITEM.match(line), heading_in(line)
        if paragraph and (item or titled or not line.strip()):
            whole, paragraph = " ".join(paragraph), []
            if whole.endswith(_INTRODUCES):
                intro = whole
            else:
                yield from _packed(list(sentences_of(whole)), intro, " ")
                intro = ""
        if item:
            items.append(_plain(item["text"]))
        elif items and line.startswith("  "):
            items[-1] = f"{items[-1]} {_plain(line)}"
        elif line.strip() or not titled:
            if items and line.strip():
                yield from _packed(items, intro, "; ")
                intro, items = "", []
            if titled:
                title = _plain(titled).rstrip(":")
                intro = "" if title.casefold() == USER_MESSAGES.casefold() else f"{title}:"
            elif line.strip():
                paragraph.append(_plain(line.strip().lstrip("> ")))
    yield from _packed(items, intro, "; ")


def _plain(line: str) -> str:
    return one_line(line.replace("**", ""))


def _packed(parts: list[str], intro: str, separator: str) -> Iterator[str]:
    """`parts` in statements of bounded length, each after `intro`; a part that is too long is left out."""
    intro = intro if len(intro) < _LONGEST // 3 else ""
    statement = ""
    for part in (part for part in parts if part and len(part) <= _LONGEST):
        if statement and len(statement) + len(part) > _LONGEST:
            yield f"{intro} {statement}".strip()
            statement = ""
        statement = (
            f"{statement.rstrip('.;')}{separator}{part}"
            if statement and separator != " "
            else f"{statement} {part}".strip()
        )
    if statement:
        yield f"{intro} {statement}".strip()
