"""A text as who reads it sees it: characters in place of their escapes, and nothing that is not shown."""

import re
from collections.abc import Callable, Sequence
from typing import Final

HIDDEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that show nothing, as the inside of a character class."""

_WRITTEN: Final = re.compile(
    r"\\{1,16}+(?:(?P<letter>[abefnrtv\"'/])|u(?P<four>[0-9A-Fa-f]{4})|x(?P<two>[0-9A-Fa-f]{2})"
    r"|(?P<octal>0[0-3][0-7]))|%(?P<percent>[0-9A-Fa-f]{2})"
)
"""Characters as JSON, programs and addresses write them; in JSON within JSON after several backslashes."""
_LETTERS: Final = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
SEQUENCE: Final = (
    r"(?:\x1b\[|\x9b)[0-?]{0,64}+[ -/]{0,8}+[@-~]"  # colours, the cursor
    r"|\x1b[\]PX^_][^\n\x07\x1b\x9c]{0,4096}+(?:\x07|\x9c|\x1b\\)"  # titles, links
    r"|\x1b[ -/]{0,8}+[0-~]"  # the rest of ECMA-48
)
"""A pattern of what a terminal does and does not show."""
WRITTEN_SEQUENCE: Final = r"(?:\^\[|␛)?\[[0-9:;?]{0,64}[A-Za-z]"
"""The same where it has lost its first character, or that is written."""

_SEQUENCES: Final = re.compile(rf"{SEQUENCE}|[\x1b\x9b]")
_UNSEEN: Final = re.compile(
    rf"(?:{SEQUENCE}|(?:\^\[|␛)?\[[0-9;:]{{0,32}}m|[\x00-\x08\x0e-\x1f\x7f-\x9f{HIDDEN}])++"
)
"""What a terminal does not show: escape sequences, those of colours also without the escape character."""


def without_sequences(text: str) -> str:
    """`text` without what a terminal does and does not show, and with no beginning of that left."""
    has_any = "\x1b" in text or "\x9b" in text  # most outputs have none, and a pattern takes long to see it
    return _SEQUENCES.sub("", text) if has_any else text


def without_escapes(text: str, words: re.Pattern[str]) -> tuple[str, Sequence[int]]:
    """`text` without escapes, and the place in `text` of each character: of several, the last one's.

    What is not shown leaves a blank where it is between a letter or digit and one of `words`.
    """

    def gap(unseen: re.Match[str]) -> str:
        shown, start = unseen.string, unseen.start()
        before = shown[max(0, start - 1) : start]
        return " " if before.isalnum() and words.match(shown, unseen.end()) else ""

    decoded, places = _replaced(text, range(len(text)), _WRITTEN, _meaning)
    return _replaced(decoded, places, _UNSEEN, gap)


def _replaced(
    text: str, places: Sequence[int], form: re.Pattern[str], char_for: Callable[[re.Match[str]], str]
) -> tuple[str, Sequence[int]]:
    """`text` with one character or none for each match, and the place of each character: the match's last."""
    parts, left, end = list[str](), list[int](), 0
    for match in form.finditer(text):
        char = char_for(match)
        parts += [text[end : match.start()], char]
        left += places[end : match.start()]
        end = match.end()
        left += places[end - len(char) : end]
    return ("".join([*parts, text[end:]]), [*left, *places[end:]]) if parts else (text, places)


def _meaning(written: re.Match[str]) -> str:
    value = written[written.lastgroup or ""]
    if written.lastgroup == "letter":
        return _LETTERS.get(value, value)
    return chr(int(value, 8 if written.lastgroup == "octal" else 16))
