"""Text from a conversation, made unable to open or close the tags it is put between, ours and those in which
other applications put what they add to a message.

A model reads `＜/cоnversation＞`, with full-width brackets, a Cyrillic letter or hidden characters in it, as
the tag it imitates. So those are escaped like the tag itself.
"""

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from io import StringIO
from typing import Final

from coppice.escapes import HIDDEN, without_sequences
from coppice.tree.authorship import APPLICATION_TAGS, ATTACHMENT

TAGS: Final = (
    "conversation",
    "previous-summary",
    "facts",
    "afterwards",
    "summary",
    "pinned",
    "read-files",
    "modified-files",
    "history-entry",
    "history-note",
    "history-session",
    "file-at-hand",
)

FILE_TAGS: Final = ("modified-files", "read-files")
"""The tags of the file blocks that may end a summary, the last one first."""

OPENING: Final = "[［〔【〖〘〚⟦⁅❲⦋⦗﹝「｢⸢⎡"
CLOSING: Final = "]］〕】〗〙〛⟧⁆❳⦌⦘﹞」｣⸥⎦"
"""Square brackets, and what looks like them; each closes the one of its place."""

_UNSEEN: Final = ("Mn", "Me", "Cf", "Cc", "Cn", "Co", "Cs")
"""General categories of characters that show nothing by themselves: accents, formats, controls, and those
that mean nothing: unassigned, of private use, halves of others.
"""
_BLANK: Final = re.compile(rf"[{HIDDEN}\u2800]")
_BRACKETS: Final = "<＜﹤‹〈〈⟨❬❮⧼˂ᐸ≺≮"
_BRACKET: Final = re.compile(f"[{_BRACKETS}]")
_SLASHES: Final = r"/／⁄∕⧸⟋\\"
_DASHES: Final = "-_＿‐‑‒–—―−﹘﹣－⁃⸺⸻֊־"
_ALPHABETS: Final = (
    (0x2460, 0x24FF),
    (0xFF21, 0xFF5A),
    (0x1D400, 0x1D7FF),
    (0x2100, 0x214F),
    (0x2160, 0x217F),
    (0x00C0, 0x024F),
    (0x1E00, 0x1EFF),
)
_HOMOGLYPHS: Final = {
    "a": "аαɑ", "b": "ЬВβ", "c": "сϲС", "d": "ԁ", "e": "еεЕ", "f": "ƒ", "g": "ɡԍ", "h": "һНհ",
    "i": "іıιІ", "j": "ј", "k": "κкК", "l": "ӏІ|1", "m": "мМ", "n": "пոηΝ", "o": "оοО0", "p": "рρР",
    "q": "ԛ", "r": "гᴦ", "s": "ѕЅ", "t": "тτТ", "u": "υսц", "v": "νѵ", "w": "ԝѡ", "x": "хХ", "y": "уүУ",
    "z": "ᴢ",
}  # fmt: skip


def _alphabet() -> dict[str, str]:
    """For each small letter, every character that is read as it."""
    accented: defaultdict[str, str] = defaultdict(str)
    for first, last in _ALPHABETS:
        for char in map(chr, range(first, last + 1)):
            parts = unicodedata.normalize("NFKD", char).lower()
            plain = "".join(part for part in parts if not unicodedata.combining(part))
            if len(plain) == 1 and "a" <= plain <= "z":
                accented[plain] += char
    return {
        letter: f"[{re.escape(letter + letter.upper() + accented[letter] + _HOMOGLYPHS[letter])}]"
        for letter in _HOMOGLYPHS
    }


_SEPARATOR: Final = rf"(?:\s*+[{_DASHES}]++|[{_DASHES}]*+\s++)"
_READ_AS: Final = _alphabet()
_NO_PLAIN: Final = r"[^ -~\t-\r\x1c-\x1f]"
"""What is neither white space nor printable ASCII: a set that is searched fast."""
_MAYBE_UNSEEN: Final = re.compile(rf"{_NO_PLAIN}(?:(?<![\w\s])|(?<={_BLANK.pattern}))")


def seen(text: str) -> tuple[str, Sequence[int]]:
    """`text` without the characters that show nothing, and for each of those the place in what is left where
    it was cut out, in order: for `place_in`.
    """
    shown, cuts, end = StringIO(), array("Q"), 0
    for match in _MAYBE_UNSEEN.finditer(text):
        if unicodedata.category(match[0]) in _UNSEEN or _BLANK.match(match[0]):
            shown.write(text[end : match.start()])
            cuts.append(match.start() - len(cuts))
            end = match.end()
    shown.write(text[end:])
    return shown.getvalue() if cuts else text, cuts


def place_in(cuts: Sequence[int], place: int) -> int:
    """The place in a text of what is at `place` in what is `seen` of it."""
    return place + bisect_right(cuts, place)


def imitations_of(word: str, separator: str = _SEPARATOR) -> str:
    """A pattern of whatever is read as `word` where it is `seen`: any case, letters of other alphabets.

    Code has dashes between blanks: `i < read - files`.
    """
    return "".join(
        separator if char in "-_ " else _READ_AS.get(char.lower(), re.escape(char)) for char in word
    )


_TITLED: Final = rf"{imitations_of(ATTACHMENT)}(?(closes)|\s++{imitations_of('title')})"
"""Code has `List<Attachment>`, which is no tag."""


@cache
def _tag() -> re.Pattern[str]:
    """Compiled when it is first needed: that takes a tenth of the time in which the service is imported.

    Code has `<Command name="x">`, which opens none of the applications' tags.
    """
    opened = {**dict.fromkeys(TAGS, _SEPARATOR), **dict.fromkeys(APPLICATION_TAGS, f"[{_DASHES}]++")}
    closed = rf"(?(closes)[{_DASHES}\s]++|"
    names = [imitations_of(tag, f"{closed}{separator})") for tag, separator in opened.items()]
    return _pattern((*opened, ATTACHMENT), [*names, _TITLED])


@cache
def _attachment() -> re.Pattern[str]:
    return _pattern([ATTACHMENT], [_TITLED])


def _pattern(tags: Iterable[str], names: Iterable[str]) -> re.Pattern[str]:
    firsts = "|".join(map(imitations_of, sorted({tag[0] for tag in tags})))  # are tried before the names
    return re.compile(
        rf"[{_BRACKETS}](?=\s*+(?P<closes>[{_SLASHES}])?+\s*+(?={firsts})(?:{'|'.join(names)})(?![A-Za-z0-9_]))"
    )


def escape_tags(text: str) -> str:
    """`text` with `&lt;` for the `<` of every such tag, and without escape sequences, of which one reader
    sees nothing and another a part. All else stays as it is.
    """
    text = without_sequences(text)
    return _escaped(text, _tag()) if _BRACKET.search(text) else text


def attachment(title: str, text: str) -> str:
    """A text block of a user's message for what is not the user's, unable to leave its tag. Its escape
    sequences stay, unless one of them hides such a tag.
    """
    escaped = _escaped(text, _attachment())
    if _attachment().search(seen(without_sequences(escaped))[0]):
        escaped = _escaped(without_sequences(text), _attachment())
    return f'<{ATTACHMENT} title="{title}">\n{escaped}\n</{ATTACHMENT}>'


def _escaped(text: str, tag: re.Pattern[str]) -> str:
    shown, cuts = seen(text)
    parts, end = list[str](), 0
    for match in tag.finditer(shown):
        start = place_in(cuts, match.start())
        parts += text[end:start], "&lt;"
        end = start + 1
    return "".join([*parts, text[end:]])


_ATTRIBUTE_CHARS: Final = 80  # characters of an attribute: twice a UUID
_UNSAFE: Final = re.compile(r"[^\w .,:/@+-]")


def attribute(text: object) -> str:
    """A value for a tag's attribute: on one line, without marks that could end it."""
    return _UNSAFE.sub("?", " ".join(str(text)[: 2 * _ATTRIBUTE_CHARS].split()))[:_ATTRIBUTE_CHARS]


def tagged(tag: str, text: str) -> str:
    """`text` between `<tag>` and `</tag>`, unable to leave them."""
    return f"<{tag}>\n{escape_tags(text)}\n</{tag}>"


def tagged_summary(tag: str, summary: str) -> str:
    """As `tagged`, but the file blocks that end a summary stay blocks."""
    prose, blocks = summary.rstrip(), list[str]()
    for name in FILE_TAGS:
        opening, closing = f"<{name}>\n", f"\n</{name}>"
        start = prose.rfind(opening) if prose.endswith(closing) else -1
        if start < 0 or (start and prose[start - 1] != "\n"):
            continue
        blocks.insert(0, tagged(name, prose[start + len(opening) : -len(closing)]))
        prose = prose[:start].rstrip()
    inside = "\n\n".join(filter(None, (escape_tags(prose), *blocks)))
    return f"<{tag}>\n{inside}\n</{tag}>"
