"""Text of a conversation, made harmless for a terminal.

A message may hold anything, a sequence that retitles the window, moves the cursor or writes to the clipboard
too. Whole sequences are dropped; a control character that is left over is shown and does nothing. Characters
that only change the direction of writing are shown too, for they can make a line read as what it is not.
"""

import json
import re
from typing import Any, Final

from coppice.escapes import SEQUENCE

_SEQUENCES: Final = re.compile(SEQUENCE)
_BIDI: Final = r"\u202a-\u202e\u2066-\u2069"
_CONTROL: Final = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_BIDI}\ud800-\udfff]")
_MINUTE_CHARS: Final = len("2026-01-31T23:59")
_UNSAFE_IN_JSON: Final = re.compile(rf"[\x7f-\x9f\u2028\u2029{_BIDI}\ud800-\udfff]")


def plain(text: str) -> str:
    """`text` with line ends and tabs, and without anything else that a terminal would act on."""
    unified = _SEQUENCES.sub("", text.replace("\r\n", "\n"))
    return _CONTROL.sub(_shown, unified)


def plain_line(text: str, limit: int | None = None) -> str:
    """`text` on one line of at most `limit` characters."""
    line = " ".join(plain(text if limit is None else text[: limit * 16]).split())
    return line if limit is None or len(line) <= limit else f"{line[: limit - 1]}…"


def minute_of(time: str | None) -> str:
    """An ISO time up to the minute; "never" where there is none."""
    return plain_line(time or "never")[:_MINUTE_CHARS].replace("T", " ")


def entries_of(count: int) -> str:
    """`count` as "1 entry" or "1,234 entries"."""
    return "1 entry" if count == 1 else f"{count:,} entries"


def counted(count: int, noun: str) -> str:
    """`count` with a noun that takes an s: "1 transcript" or "1,234 transcripts"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def json_text(value: Any) -> str:
    """`value`, with messages of the protocol in it, as JSON that is safe to show and safe to encode."""
    text = json.dumps(
        value,
        ensure_ascii=False,
        indent=2,
        default=lambda model: model.model_dump(mode="json", by_alias=True),
    )
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:  # noqa: PLR2004 - the end of the C0 set, which has pictures of its own
        return chr(0x2400 + code)
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"\\u{code:04x}"  # noqa: PLR2004 - surrogates
