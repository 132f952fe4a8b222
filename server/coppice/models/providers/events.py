"""Server-sent events from a stream of bytes, which may be compressed, with bounds.

The grammar is that of the HTML standard, 9.2.6: lines end in CR LF, CR or LF, `data:` lines of one event are
joined, comments and unknown fields are skipped. Only the data counts here: both protocols repeat the event's
name in it.
"""

import asyncio
import re
import zlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Final

import httpx

from coppice.models.providers.answer_fault import AnswerFaultError

_NOT_ENCODED: Final = frozenset({"", "identity"})
_ENCODINGS: Final = frozenset({"gzip", "x-gzip", "deflate"})
_GZIP_OR_ZLIB: Final = zlib.MAX_WBITS | 32
"""For zlib: detect gzip or zlib by the header."""

_PIECE: Final = 16 * 1024  # bytes decompressed at a time: zlib's own buffer
_CANNOT_UNPACK: Final = "sent an answer that cannot be unpacked. Check the proxy in between."

LARGEST_EVENT: Final = 4_000_000
"""Bytes of one event, and of an answer in one piece: far above any real one, far below what hurts."""

LARGEST_STREAM: Final = 100_000_000
"""Bytes of a whole stream. Providers wrap each token in some 300 bytes: this is room for 300,000 tokens."""

MAX_LINES: Final = 1_000_000
"""Lines of a whole stream: three for each of 300,000 tokens, and some. Each takes about a microsecond."""

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")


async def decoded(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The body as it arrives, with at most one compression undone, in pieces of at most 16 KiB.

    The event loop runs between pieces, and who reads them decides when it is too much. Raises
    AnswerFaultError for another or a second compression, and for a body that its header misdescribes.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding in _NOT_ENCODED:
        async for chunk in response.aiter_raw():
            yield chunk
            await asyncio.sleep(0)  # one read of the network may hold thousands
        return
    if encoding not in _ENCODINGS:
        raise AnswerFaultError("bad-answer", _CANNOT_UNPACK)
    decoder = zlib.decompressobj(wbits=_GZIP_OR_ZLIB)
    async for packed in response.aiter_raw():
        rest = packed
        while rest and not decoder.eof:
            try:
                piece = decoder.decompress(rest, _PIECE)
            except zlib.error:
                raise AnswerFaultError("bad-answer", _CANNOT_UNPACK) from None
            rest = decoder.unconsumed_tail
            yield piece
            await asyncio.sleep(0)


async def read_at_most(response: httpx.Response, limit: int) -> bytes:
    """The body; of a larger one than `limit` bytes a beginning that is larger too."""
    body = bytearray()
    async with aclosing(decoded(response)) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > limit:
                break
    return bytes(body)


async def data_events(chunks: AsyncIterator[bytes]) -> AsyncGenerator[str, None]:
    """The data of each event, as it arrives. A last event that no blank line ends counts too.

    Raises AnswerFaultError when an event or the stream is too large.
    """
    lines = EventLines()
    total = 0
    async for chunk in chunks:
        total += len(chunk)
        if total > LARGEST_STREAM:
            raise AnswerFaultError("bad-answer", "sent more than an answer can hold; it was stopped.")
        for data in lines.feed(chunk):
            yield data
    for data in lines.end():
        yield data


class EventLines:
    """Cuts bytes into lines and lines into events; knows nothing of where the bytes come from."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._ended_in_cr = False
        self._data: list[str] = []
        self._size = 0
        self._lines = 0

    def feed(self, chunk: bytes) -> list[str]:
        """The data of the events that `chunk` completes."""
        if not chunk:
            return []
        begun = chunk.removeprefix(b"\n") if self._ended_in_cr else chunk
        self._ended_in_cr = chunk.endswith(b"\r")
        first, *others = _LINE_END.split(begun)
        self._lines += len(others)
        if self._lines > MAX_LINES:
            raise AnswerFaultError("bad-answer", "sent more than an answer can hold; it was stopped.")
        self._rest += first
        events: list[str] = []
        for line in others:
            events += self._line(bytes(self._rest))
            self._rest = bytearray(line)
        if len(self._rest) + self._size > LARGEST_EVENT:
            raise AnswerFaultError("bad-answer", "sent an event that is too large; it was stopped.")
        return events

    def end(self) -> list[str]:
        """The data of an event that the stream's end completes."""
        return [*self._line(bytes(self._rest)), *self._line(b"")]

    def _line(self, line: bytes) -> list[str]:
        if not line:
            data, self._data, self._size = self._data, [], 0
            return ["\n".join(data)] if data else []
        name, _, value = line.partition(b":")
        if name.removeprefix(b"\xef\xbb\xbf") == b"data":
            self._data.append(value.removeprefix(b" ").decode("utf-8", "replace"))
            self._size += len(value)
        return []
