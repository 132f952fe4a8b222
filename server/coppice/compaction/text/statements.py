"""Statements of a Markdown text: its paragraphs, and the items of its lists with what introduces them."""

import re
from collections.abc import Iterator
from typing import Final

from coppice.compaction.text.markdown import FENCE, ITEM, heading_in
from coppice.compaction.text.sentences import ELISION, ended, marked, one_line, sentences_of

USER_MESSAGES: Final = "User Messages"
"""The heading of the user's words in a document. What a text has under it may not pass for them."""
_MOST_CHARS: Final = 20_000
"""Characters of a text that are read; the longest recorded report has 9,000."""
_INTRODUCES: Final = (":", "：")
_TABLE: Final = "|"
_NO_PROSE: Final = ("::", "---", "===")
_MARKS: Final = re.compile(r"\[…\](?:[; ]*\[…\])+")
_LONGEST: Final = 600
"""Characters of one statement; a longer paragraph is divided at its sentences."""


def statements_of(text: str) -> Iterator[str]:
    """The statements in order, each on one line: sentences of a paragraph together, items of a list after
    what introduces them, as many as make one statement. Code and tables, with what introduces them, and
    parts that are too long are left out, with a mark.
    """
    statement = ""
    for each in _statements(text):
        if each == ELISION and statement:
            statement = marked(ended(statement))
        elif statement == ELISION:
            statement = f"{ELISION} {each}"
        else:
            if statement:
                yield _MARKS.sub(ELISION, statement)
            statement = each
    if statement not in ("", ELISION):
        yield _MARKS.sub(ELISION, statement)


def _statements(text: str) -> Iterator[str]:
    """The statements, and marks between them."""
    intro, heading, items, paragraph = "", "", list[str](), list[str]()
    for line in [*_prose(text[:_MOST_CHARS]), ""]:
        if line == ELISION:
            paragraph = [] if paragraph and paragraph[-1].endswith(_INTRODUCES) else paragraph
            last = paragraph or items
            last[-1:] = map(marked, last[-1:])
            if not last:
                intro = intro if intro == heading else ""
                yield ELISION
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
                intro = heading = "" if title.casefold() == USER_MESSAGES.casefold() else f"{title}:"
            elif line.strip():
                paragraph.append(_plain(line.strip().lstrip("> ")))
    yield from _packed(items, intro, "; ")
    yield from [ELISION] if len(text) > _MOST_CHARS else []


def _prose(text: str) -> Iterator[str]:
    """The lines of `text` with a mark in place of code and of a table."""
    code = is_marked = False
    for line in text.splitlines():
        is_fence = FENCE.match(line) is not None
        if code or is_fence or line.lstrip().startswith(_TABLE):
            code = code != is_fence
            if not is_marked:
                yield ELISION
            is_marked = True
        elif not line.lstrip().startswith(_NO_PROSE):
            is_marked = False
            yield line


def _plain(line: str) -> str:
    return one_line(line.replace("**", ""))


def _packed(parts: list[str], intro: str, separator: str) -> Iterator[str]:
    """`parts` in statements of bounded length, each after `intro`; one that is too long leaves a mark."""
    intro = intro if len(intro) < _LONGEST // 3 else ELISION
    statement = ""
    for part in filter(None, parts):
        if len(part) > _LONGEST or not part.strip("[…]; "):
            statement = marked(statement).strip()
            continue
        if statement and len(statement) + len(part) > _LONGEST:
            yield _introduced(intro, statement)
            statement = ""
        statement = _joined(statement, separator, part)
    if statement:
        yield _introduced(intro, statement)


def _introduced(intro: str, statement: str) -> str:
    return statement if statement == ELISION else f"{intro} {statement}".strip()


def _joined(statement: str, separator: str, part: str) -> str:
    """`statement` with a further part; what introduces it ends with a mark of its own."""
    if separator == " " or statement.endswith(_INTRODUCES):
        return f"{statement} {part}".strip()
    return f"{statement.rstrip('.;')}{separator}{part}" if statement else part
