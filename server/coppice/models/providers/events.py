"""Server-sent events from a stream of bytes, with bounds.

The grammar is that of the HTML standard, 9.2.6: lines end in CR LF, CR or LF, `data:` lines of one event are
joined, comments and unknown fields are skipped. Only the data counts here: both protocols repeat the event's
name in it.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

from coppice.models.providers.answer_fault import AnswerFaultError

LARGEST_EVENT: Final = 4_000_000
"""Bytes of one event, and of an answer in one piece: far above any real one, far below what hurts."""

LARGEST_STREAM: Final = 100_000_000
"""Bytes of a whole stream. Providers wrap each token in some 300 bytes: this is room for 300,000 tokens."""

MAX_LINES: Final = 1_000_000
"""Lines of a whole stream: three for each of 300,000 tokens, and some. Each takes about a microsecond."""

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")


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
