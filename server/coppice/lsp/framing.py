"""Where one message ends and the next begins: the base protocol of LSP, read strictly.

A stream whose headers make no sense cannot be trusted to show where the next message starts, so a broken
header ends the connection; a broken body does not.
"""

import asyncio
import re
from typing import Final

MAX_HEADER_BYTES: Final = 64 * 1024
"""For one header line, and the limit to give the `StreamReader`."""
MAX_HEADERS: Final = 32
"""LSP defines two; a stream with many more is not LSP."""
MAX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""The largest messages are appends with images and imports by content, of a few MiB."""
MAX_EMPTY_LINES: Final = 16
"""Empty lines skipped before a message: some clients end a body with one."""

_FIELD: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*\r?\n")
_LENGTH: Final = re.compile(rb"[0-9]{1,18}")


class FramingError(Exception):
    """The stream is no LSP stream, or no longer one. The message quotes nothing that was sent."""


async def read_message(reader: asyncio.StreamReader) -> bytes | None:
    """The body of the next message, or None when the stream ended between two messages."""
    length = await _read_headers(reader)
    if length is None:
        return None
    if length > MAX_MESSAGE_BYTES:
        raise FramingError(f"a message of {length} bytes exceeds the limit of {MAX_MESSAGE_BYTES}")
    try:
        return await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        raise FramingError(
            f"the stream ended after {len(error.partial)} of a message's {length} bytes"
        ) from None


def frame(body: bytes) -> bytes:
    """`body` with its header."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


async def _read_headers(reader: asyncio.StreamReader) -> int | None:
    """The length that the header block gives; None at the end of the stream.

    Some empty lines before a block are skipped.
    """
    length: int | None = None
    for count in range(MAX_HEADERS):
        line = await (_read_first_line(reader) if not count else _read_line(reader))
        if not line and not count:
            return None
        if line in (b"\r\n", b"\n"):
            if length is None:
                raise FramingError("a message came without a Content-Length header")
            return length
        field = _FIELD.fullmatch(line)
        if field is None:
            raise FramingError("a line where a header belongs is no header")
        if field[1].lower() == b"content-length":
            length = _length_of(field[2], length)
    raise FramingError(f"a message came with more than {MAX_HEADERS} headers")


async def _read_first_line(reader: asyncio.StreamReader) -> bytes:
    for _ in range(MAX_EMPTY_LINES + 1):
        line = await _read_line(reader)
        if line not in (b"\r\n", b"\n"):
            return line
    raise FramingError(f"more than {MAX_EMPTY_LINES} empty lines came before a message")


async def _read_line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readline()
    except ValueError:
        raise FramingError(f"a header line exceeds {MAX_HEADER_BYTES} bytes") from None


def _length_of(value: bytes, earlier: int | None) -> int:
    if not _LENGTH.fullmatch(value):
        raise FramingError("a Content-Length header holds no byte count")
    length = int(value)
    if earlier not in (None, length):
        raise FramingError("two Content-Length headers contradict each other")
    return length
