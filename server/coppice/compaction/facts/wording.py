"""What a user wrote with their own hands: a message without pastes, logs, code and what a harness added."""

import re
from collections.abc import Iterator
from typing import Final

_MAX_WORDS_CHARS: Final = 4_000
_MAX_LINE_CHARS: Final = 1_200
_MAX_LINES: Final = 40
_EDGE_LINES: Final = 3

_OPENING: Final = re.compile(r"<([A-Za-z][A-Za-z0-9_-]{0,60})(?:\s[^<>\n]{0,300})?>")
_HARNESS_MESSAGE: Final = re.compile(
    r"\s*(?:<(?:task-notification|local-command-[a-z]+|user-prompt-submit-hook|bash-(?:stdout|stderr))\b"
    r"|\[Request interrupted|Caveat: The messages below"
    r"|This session is being continued from a previous conversation)",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r"\s{0,3}(?:```|~~~)")
_LOG_LINE: Final = re.compile(
    r"\s*(?:"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\d+[\u2192|]"
    r"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\]?[\s:]"
    r"|(?:error|warning|fatal|panic)(?:\[\w{1,20}\])?:|npm (?:ERR!|error|warn)|E   "
    r"|\w{0,40}(?:Error|Exception|Warning):\s"
    r"|Traceback \(most|File \"[^\"]{1,300}\", line|at .{1,300}:\d+:\d+|at [\w.$<>]{1,200}\(|Caused by:"
    r"|[$%➜❯] |>>> |PS [A-Z]:|@@ |diff --git|[+-]{3} [ab]/|[+-] {2,}|[|│┃└├─]|[=*_~^-]{3,}\s*$"
    r"|[{\[]\"|[{}\[\]();,]+\s*$|PASS |FAIL |(?:not )?ok \d+ -"
    r")"
)
_PLAIN_WORD: Final = re.compile(r"(?<![\w./~-])[A-Za-z'’]{2,}(?![\w/(])")
_PROSE_WORDS: Final = 3
_CHINESE: Final = re.compile(r"[\u4e00-\u9fff]{3}")
_QUOTE: Final = re.compile(r"\s{0,3}>")
_CODE_LINE: Final = re.compile(
    r"\s*(?:import |from \S+ import|export |const |let \w+ =|var |def \w|class \w+[:({ ]|function \w"
    r"|return\b.*;"
    r"|public |private |#include|if \(|for \(|while \(|async def|fn \w+\(|func \w+\()"
)
_CODE_END: Final = re.compile(r"[;{}]\s*$")


def user_words(text: str) -> str:
    """The part of a user's message that is the user speaking, line by line; empty when nothing is.

    Blocks in tags, fenced code, quotes, log and code lines are left out. A message that is mainly a paste
    keeps its first and last lines, for that is where people say what they want with it.
    """
    if _HARNESS_MESSAGE.match(text):
        return ""
    written = _without_blocks(text).splitlines()
    lines = list(_spoken_lines(written))
    if sum(map(bool, map(str.strip, lines))) * 2 < sum(map(bool, map(str.strip, written))):
        lines = [line for line in lines if _is_prose(line)]
    if len(lines) > _MAX_LINES or sum(map(len, lines)) > _MAX_WORDS_CHARS:
        lines = _edges_of_paste(lines)
    return "\n".join(lines).strip()


def _without_blocks(text: str) -> str:
    """`text` without what stands between a tag at the start of a line and its closing one."""
    if "<" not in text:
        return text
    kept: list[str] = []
    position = 0
    unclosed: set[str] = set()
    for match in _OPENING.finditer(text):
        start = match.start()
        name = match[1]
        if start < position or name in unclosed or not _starts_line(text, start):
            continue
        end = text.find(f"</{name}>", match.end())
        if end < 0:
            unclosed.add(name)
            continue
        kept.append(text[position:start])
        position = end + len(name) + 3
    kept.append(text[position:])
    return "\n".join(kept) if len(kept) > 1 else text


def _starts_line(text: str, position: int) -> bool:
    line = text[max(0, position - 80) : position].rpartition("\n")
    return not line[2].strip() and (bool(line[1]) or position <= len(line[2]))


def _spoken_lines(lines: list[str]) -> Iterator[str]:
    """A pasted line takes the rest of its paragraph with it: what is wrapped there is paste too."""
    fenced = pasted = False
    for line in lines:
        if _FENCE.match(line):
            fenced, pasted = not fenced, False
        elif not fenced and not _QUOTE.match(line):
            pasted = bool(line.strip()) and (pasted or _is_pasted(line))
            if not pasted:
                yield line


def _is_pasted(line: str) -> bool:
    if len(line) > _MAX_LINE_CHARS:
        return True
    head = line[:400]
    return bool(_LOG_LINE.match(head) or _CODE_LINE.match(head) or _CODE_END.search(line[-4:]))


def _is_prose(line: str) -> bool:
    """Whether a line beside pasted ones is someone talking: several words, or Chinese."""
    return len(_PLAIN_WORD.findall(line[:400])) >= _PROSE_WORDS or bool(_CHINESE.search(line[:400]))


def _edges_of_paste(lines: list[str]) -> list[str]:
    first = lines[:_EDGE_LINES]
    last: list[str] = []
    for line in reversed(lines[_EDGE_LINES:]):
        if not line.strip():
            break
        last.insert(0, line)
    return [*first, "", *last] if 0 < len(last) <= _EDGE_LINES else first
