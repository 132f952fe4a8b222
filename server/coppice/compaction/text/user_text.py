"""What a user wrote with their own hands: a message without pastes, logs, code and what a harness added."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

_MAX_CHARS: Final = 40_000  # characters from which a message is mainly a paste (guess)
_MAX_LINES: Final = 120
"""Lines of prose from which a message is mainly a paste (guess: longer than a long ticket)."""
_LONG_LINE: Final = 1_200  # characters from which a line may be data (guess)
_PROSE_SHARE: Final = 0.6
"""Share of a long line's characters in plain words; data has fewer (guess)."""
_EDGE_LINES: Final = 3  # lines that are kept at each end of a paste (guess)

_FENCE: Final = re.compile(r"\s{0,3}(?:```|~~~)")  # deeper ones are part of what is fenced
_OPENING: Final = re.compile(r"<([A-Za-z][A-Za-z0-9_-]{0,60})(?:\s[^<>\n]{0,300})?>")
_CLOSING: Final = re.compile(r"</([A-Za-z][A-Za-z0-9_-]{0,60})>")
_HARNESS_MESSAGE: Final = re.compile(
    r"\s*(?:<(?:task-notification|local-command-[a-z]+|user-prompt-submit-hook|bash-(?:stdout|stderr))\b"
    r"|\[Request interrupted|Caveat: The messages below"
    r"|This session is being continued from a previous conversation)",
    re.IGNORECASE,
)
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
_PROSE_WORDS: Final = 3  # plain words that make a line prose (guess)
_CHINESE: Final = re.compile(r"[\u4e00-\u9fff]{3}")
_QUOTE: Final = re.compile(r"\s{0,3}>")
_CODE_LINE: Final = re.compile(
    r"\s*(?:import |from \S+ import|export |const |let \w+ =|var |def \w|class \w+[:({ ]|function \w"
    r"|return\b.*;"
    r"|public |private |#include|if \(|for \(|while \(|async def|fn \w+\(|func \w+\()"
)
_CODE_END: Final = re.compile(r"[;{}]\s*$")


def typed_by_user(text: str) -> str:
    """The part of a user's message that is the user speaking, line by line; empty when nothing is.

    Blocks in tags, fenced code, quotes, log and code lines are left out. A message that is mainly a paste
    keeps its first and last lines, where people write what they want with it.
    """
    if _HARNESS_MESSAGE.match(text):
        return ""
    written = without_blocks(text).splitlines()
    lines = list(_spoken_lines(written))
    if sum(map(bool, map(str.strip, lines))) * 2 < sum(map(bool, map(str.strip, written))):
        lines = [line for line in lines if _is_prose(line)]
    if len(lines) > _MAX_LINES or sum(map(len, lines)) > _MAX_CHARS:
        lines = _edges_of_paste(lines)
    return "\n".join(lines).strip()


def without_blocks(text: str) -> str:
    """`text` without what is between a tag at the start of a line and its closing one."""
    if "<" not in text:
        return text
    kept: list[str] = []
    position = 0
    closings: defaultdict[str, list[int]] = defaultdict(list)
    for closing in _CLOSING.finditer(text):
        closings[closing[1]].append(closing.start())
    for match in _OPENING.finditer(text):
        start = match.start()
        name = match[1]
        if start < position or not _starts_line(text, start):
            continue
        ends = closings[name]
        next_end = bisect_left(ends, match.end())
        if next_end == len(ends):
            continue
        end = ends[next_end]
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
    if len(line) > _LONG_LINE and not _is_long_prose(line[:_MAX_CHARS]):
        return True
    head = line[:400]
    return bool(_LOG_LINE.match(head) or _CODE_LINE.match(head) or _CODE_END.search(line[-4:]))


def _is_long_prose(line: str) -> bool:
    """Whether a long line is someone talking; its length alone makes it no paste."""
    words = sum(len(word) + 1 for word in _PLAIN_WORD.findall(line))
    chinese = sum("\u4e00" <= char <= "\u9fff" for char in line)
    return words + chinese >= _PROSE_SHARE * len(line)


def _is_prose(line: str) -> bool:
    """Whether a line next to pasted ones is a person's own sentence: several words, or Chinese."""
    return len(_PLAIN_WORD.findall(line[:400])) >= _PROSE_WORDS or bool(_CHINESE.search(line[:400]))


def _edges_of_paste(lines: list[str]) -> list[str]:
    first = lines[:_EDGE_LINES]
    last: list[str] = []
    for line in reversed(lines[_EDGE_LINES:]):
        if not line.strip() or len(last) > _EDGE_LINES:
            break
        last.append(line)
    return [*first, "", *reversed(last)] if 0 < len(last) <= _EDGE_LINES else first
