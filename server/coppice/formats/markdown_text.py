"""Text put into Markdown so that it cannot change what is around it."""

import re
from typing import Final

_BACKTICKS: Final = re.compile(r"`+")
_CODE_SPAN: Final = re.compile(r"((?<!`)(`+)(?!`).+?(?<!`)\2(?!`))")
_FENCE_LINE: Final = re.compile(r" {0,3}(`{3,}+|~{3,}+)(.*)")
_LONGEST_LINE_WITH_SPANS: Final = 10_000
"""Characters. In longer lines code spans are not looked for: at worst 10 ms, of 100,000 0.4 s."""

_HTML: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def prose(text: str) -> str:
    """`text` as Markdown of its own: HTML in it shows as text, and a fence it leaves open is closed."""
    lines: list[str] = []
    fence = ""
    for line in text.strip("\n").split("\n"):
        lines.append(line if fence else _without_html(line))
        fence = _fence_after(line, fence)
    return "\n".join([*lines, fence] if fence else lines)


def fenced(text: str, language: str = "") -> str:
    """`text` word for word, in a fence longer than any run of backticks in it."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def quoted(text: str) -> str:
    """`text` as a block quote."""
    return "\n".join(f"> {line}".rstrip() for line in prose(text).split("\n"))


def inline(text: str) -> str:
    """`text` on one line, as words."""
    return escaped(" ".join(text.split()))


def code(text: str) -> str:
    """`text` on one line, as code."""
    words = " ".join(text.split())
    ticks = "`" * (_longest_run(words) + 1)
    return f"{ticks} {words} {ticks}" if len(ticks) > 1 else f"{ticks}{words}{ticks}"


def escaped(text: str) -> str:
    """`text` with the characters of HTML as entities."""
    return text.translate(_HTML)


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open after `line`, given the one open before it."""
    match = _FENCE_LINE.fullmatch(line.rstrip("\r"))
    if match is None:
        return fence
    marks, rest = match.groups()
    if not fence:
        return "" if marks[0] == "`" and "`" in rest else marks
    closes = marks[0] == fence[0] and len(marks) >= len(fence) and not rest.strip()
    return "" if closes else fence


def _without_html(line: str) -> str:
    if len(line) > _LONGEST_LINE_WITH_SPANS:
        return line.replace("<", "&lt;")
    parts = _CODE_SPAN.split(line)
    plain = [part if index % 3 else part.replace("<", "&lt;") for index, part in enumerate(parts)]
    return "".join(part for index, part in enumerate(plain) if index % 3 != 2)  # noqa: PLR2004 - the inner group
