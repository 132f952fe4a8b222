"""Cleans a model's answer as text: what is no part of a summary is removed, loops are cut short."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from coppice.compaction.summary import SPLIT_TURN_HEADING
from coppice.compaction.text.comparing import normalized
from coppice.compaction.text.markdown import FENCE, HEADING, ITEM

_THINKING: Final = ("think", "thinking", "reasoning", "analysis", "scratchpad")
_CALLS: Final = (
    "tool_call",
    "tool_calls",
    "function_call",
    "function_calls",
    "tool_use",
    "invoke",
    "tool_code",
)
_FILE_KINDS: Final = ("read", "modified", "created", "deleted")
_FILES: Final = tuple(f"{kind}{mark}files" for kind in _FILE_KINDS for mark in "-_ ")
_BARE_CALL: Final = re.compile(
    r"\s*(?:<\|?(?:tool_call|python_tag|tool_calls_begin)|\[TOOL_CALLS\]|\[?\{\s*\"(?:name|function|tool)\"\s*:)",
    re.IGNORECASE,
)
_NEXT_HEADING: Final = re.compile(r"\n\s{0,3}#{1,6}\s")
_CLOSING: Final = re.compile(
    r"\s*(?:\*{1,2}|_)?(?:let me know|please let me know|i hope (?:this|that)|hope (?:this|that) helps"
    r"|feel free|if you (?:need|want|have|would like|['’]d like)|is there anything|would you like"
    r"|do you want me|shall i|should i|i (?:can|could) (?:also|now)|ready (?:to|for)|happy to|thanks?\b"
    r"|如果你|如果您|如需|希望这|请告诉我|需要我|还有什么)",
    re.IGNORECASE,
)
_LINE_END: Final = re.compile(r"[.!?:;)\]`'\"*。！？：；）】」…]\s*$")
_MOST_CHARS: Final = 100_000
"""Characters of an answer that are read, without its thinking: 25,000 tokens. Prose takes 0.1 s, lines of one
letter 1.3 s."""
_MOST_SAME_LINES: Final = 2
"""Times that a line may occur. Of 842 recorded texts of models one has a line more often, with 1 two have."""
_LOOP: Final = 4
"""Repetitions in a row that are a loop. None of the recorded texts has one, with 2 one has."""
_LONGEST_UNIT: Final = 24  # words of a repeated sequence; none of the recorded texts has one
_LEAST_WORD: Final = 5  # characters of a line that counts as repeated: code repeats `end`, `done` and `pass`
_LEAST_LINE: Final = 20  # characters of a line that may occur twice only: short ones are code and labels
_WHOLE_LEAK: Final = 40
"""Characters of a sentence of ours that is removed wherever it occurs. The recorded texts have none of 15 or
more."""


class Cleanup:
    """A text, and the names of what was removed from it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.repaired: list[str] = []

    def apply(self, name: str, text: str) -> None:
        """Take `text` as the result of the repair `name`, which is recorded if it changed something."""
        if text != self.text:
            self.text = text
            self.repaired.append(name)


def cleaned(text: str, leaks: frozenset[str], *, cut_off: bool) -> Cleanup:
    """`text` without thinking, calls, fences around it, file lists, our own sentences, loops and farewells.

    `leaks` are the sentences of our request, normalized; after `cut_off` the last line may be incomplete.
    """
    work = Cleanup(text.strip())
    work.apply("thinking", _without_thinking(work.text))
    work.apply("tool calls", _without_calls(work.text))
    work.apply("code fence", _unfenced(work.text))
    work.apply("file lists", without_blocks(work.text, _FILES))
    work.text = work.text[:_MOST_CHARS]
    work.apply("leaked instructions", _without_leaks(work.text, leaks))
    if cut_off:
        work.apply("cut off", _without_last_line(work.text))
    work.apply("repetition", without_loops(work.text))
    if not cut_off:
        work.apply("farewell", _without_farewell(work.text))
    return work


def without_blocks(text: str, names: Iterable[str]) -> str:
    """`text` without `<name>…</name>`; a block that is never closed ends at the next heading."""
    wanted = "|".join(map(re.escape, names))
    opening = re.compile(rf"<\s{{0,4}}({wanted})(?:\s[^<>]{{0,200}})?>", re.IGNORECASE)
    parts: list[str] = []
    place = 0
    unclosed: set[str] = set()
    for match in opening.finditer(text):
        if match.start() < place:
            continue
        name = match[1].lower()
        closing = None
        if name not in unclosed:
            closing = re.compile(rf"</\s{{0,4}}{re.escape(name)}\s{{0,4}}>", re.IGNORECASE).search(
                text, match.end()
            )
        if closing is None:
            unclosed.add(name)
        end = closing or _NEXT_HEADING.search(text, match.end())
        parts.append(text[place : match.start()])
        place = len(text) if end is None else end.end() if closing else end.start()
    return "".join([*parts, text[place:]]).strip()


def without_loops(text: str) -> str:
    """`text` with lines and runs of words that repeat themselves stated once."""
    seen: dict[str, int] = {}
    lines: list[str] = []
    for line in text.splitlines():
        key = normalized(line[_marker_end(line) :])
        seen[key] = seen.get(key, 0) + 1
        if len(key) < _LEAST_LINE or HEADING.match(line) or seen[key] <= _MOST_SAME_LINES:
            lines.append(_without_runs(line))
    return "\n".join(_without_same_neighbours(lines))


def _marker_end(line: str) -> int:
    item = ITEM.match(line)
    return item.start("text") if item else 0


def _without_same_neighbours(lines: Iterable[str]) -> Iterator[str]:
    """Lines that are repeated four times or more are kept once; the `end`s of a piece of code may stay."""
    for key, run in groupby(lines, key=lambda line: normalized(line[_marker_end(line) :])):
        same = list(run)
        yield from same[:1] if len(key) >= _LEAST_WORD and len(same) >= _LOOP else same


def _without_runs(line: str) -> str:
    """`line` without a run of up to 24 words that comes four times or more on end."""
    words = line.split(" ")
    for length in range(1, _LONGEST_UNIT + 1):
        if len(words) < length * _LOOP:
            break
        runs = _runs(words, length)
        shorter: list[str] = []
        place = 0
        while place < len(words):
            run = runs[place]
            if run >= length * (_LOOP - 1) and any(words[place : place + length]):
                shorter += words[place : place + length]
                place += run + length
            else:
                shorter.append(words[place])
                place += 1
        words = shorter
    return " ".join(words)


def _runs(words: Sequence[str], length: int) -> list[int]:
    """For each place, how many words from there on equal the one `length` places further."""
    runs = [0] * (len(words) + 1)
    for place in range(len(words) - length - 1, -1, -1):
        runs[place] = runs[place + 1] + 1 if words[place] == words[place + length] else 0
    return runs


def _without_thinking(text: str) -> str:
    """Some servers cut off the mark that opens the thinking and leave the one that closes it."""
    spoken = without_blocks(text, _THINKING)
    return spoken.rpartition("</think>")[2].strip()


def _without_calls(text: str) -> str:
    lines = without_blocks(text, _CALLS).splitlines()
    return "\n".join(line for line in lines if not _BARE_CALL.match(line)).strip()


def _unfenced(text: str) -> str:
    """A summary inside a code block, without the block's fences."""
    fenced = False
    inside = outside = 0
    for line in text.splitlines():
        if FENCE.match(line):
            fenced = not fenced
        elif HEADING.match(line):
            inside, outside = inside + fenced, outside + (not fenced)
    if inside <= outside:
        return text
    return "\n".join(line for line in text.splitlines() if not FENCE.match(line)).strip()


def _without_leaks(text: str, leaks: frozenset[str]) -> str:
    whole = [leak for leak in leaks if len(leak) >= _WHOLE_LEAK]

    def leaked(line: str) -> bool:
        key = normalized(line)
        return key in leaks or (len(key) >= _WHOLE_LEAK and any(leak in key for leak in whole))

    lines = text.splitlines()
    return "\n".join(line for line in lines if not line or HEADING.match(line) or not leaked(line))


def _without_last_line(text: str) -> str:
    lines = text.splitlines()
    if lines and not _LINE_END.search(lines[-1]):
        del lines[-1]
    return "\n".join(lines).rstrip()


def without_preamble(text: str) -> str:
    """`text` from its first heading on, if there is one."""
    first = HEADING.search(text) if HEADING.match(text) else _NEXT_HEADING.search(text)
    return text[first.start() :].lstrip("\n") if first else text


def _without_farewell(text: str) -> str:
    lines = text.splitlines()
    while lines and (
        not lines[-1].strip() or (_CLOSING.match(lines[-1]) and SPLIT_TURN_HEADING not in lines[-1])
    ):
        del lines[-1]
    return "\n".join(lines)
