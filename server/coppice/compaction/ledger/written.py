"""What changes put into files: code, comments, and the names that they define."""

import re
from collections.abc import Iterator
from typing import Final

from coppice.compaction.ledger.steps import CODE_CHARS, DIFF_FILE, PATCH_START, Action, texts_named
from coppice.compaction.text.sentences import clip, one_line

_OLD_NAMES: Final = ("old_string", "oldString", "old_str", "oldText")
_COMMENT: Final = re.compile(r"\s{0,80}(?:///?!?|#(?![!\[#]|\w)|--(?!-)|\*(?![*/])|/\*\*?|;;)\s(.*)$")
_RULER: Final = "─━═-=*#~ "
_DEFINITION: Final = re.compile(
    r"^[+ \t]{0,24}(?:@?(?:pub(?:\(\w{1,8}\))?|public|private|protected|export|default|static|async|abstract"
    r"|override) ){0,4}"
    r"(?:def|defp|defmodule|defmacro|fn|func|fun|function|class|interface|type|struct|enum|trait|module"
    r"|record) +"
    r"([A-Za-z_][A-Za-z0-9_.]{2,60})",
    re.MULTILINE,
)


def added_code(action: Action, limit: int = 160) -> str:
    """The lines that a change added, on one line; `…` ends them where they are longer than `limit`."""
    old = {line.strip() for text in texts_named(action.arguments, _OLD_NAMES) for line in text.splitlines()}
    added: list[str] = []
    for text in action.written:
        gone = old
        if _is_patch(text):
            gone = old | {line[1:].strip() for line in text[:CODE_CHARS].splitlines() if line.startswith("-")}
        added += [line for each in _added_lines(text) if (line := each.strip()) and line not in gone]
        if sum(map(len, added)) > limit:
            break
    joined = "".join(f"{line} " if line.endswith((",", "{", "(", "[")) else f"{line}; " for line in added)
    return clip(one_line(joined).rstrip("; ").replace("`", "'"), limit)


def added_text(text: str) -> str:
    """What a patch adds, without its marks; another text as it is."""
    return "\n".join(_added_lines(text))


def comments_in(action: Action) -> Iterator[str]:
    """The comments and documentation that a change added, a block of lines as one text."""
    for text in action.written:
        block: list[str] = []
        for line in [*_added_lines(text), ""]:
            comment = _COMMENT.match(line[:600])
            if comment:
                block.append(comment[1].strip())
            elif block:
                yield " ".join(block).strip(_RULER)
                block = []


def definitions_in(text: str) -> list[str]:
    """The names of functions, types and modules that a text written into a file defines, in order."""
    return _DEFINITION.findall(text[:CODE_CHARS])


def _added_lines(text: str) -> list[str]:
    """The lines that a patch adds, its other lines as empty ones; of another text all."""
    lines = text[:CODE_CHARS].splitlines()
    return [line[1:] if line.startswith("+") else "" for line in lines] if _is_patch(text) else lines


def _is_patch(text: str) -> bool:
    return text.lstrip().startswith(PATCH_START) or bool(DIFF_FILE.search(text[:2_000]))
