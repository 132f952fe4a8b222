"""Server-sent events from a stream of bytes, with bounds.

The grammar is that of the HTML standard, 9.2.6: lines end in CR LF, CR or LF, `data:` lines of one event are
joined, comments and unknown fields are skipped. Only the data counts here: both protocols repeat the event's
name in it.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

from coppice.models.providers.answer_fault import AnswerFaultError

LARGEST_EVENT: Final = 4_000_000
"""Bytes of one event, and of an answer in one piece: far above any real one, far below what hurts."""

LARGEST_STREAM: Final = 100_000_000
"""Bytes of a whole stream. Providers wrap each token in some 300 bytes: this is room for 300,000 tokens."""


MAX_LINES: Final = 1_000_000
"""Lines of a whole stream: three for each of 300,000 tokens, and some. Each takes about a microsecond."""


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
        self._searched = 0
        self._data: list[str] = []
        self._size = 0
        self._lines = 0

    def feed(self, chunk: bytes) -> list[str]:
        """The data of the events that `chunk` completes."""
        self._rest += chunk
        events: list[str] = []
        start = 0
        while (end := self._line_end(start)) is not None:
            line_end, start_next = end
            events += self._line(bytes(self._rest[start:line_end]))
            start = start_next
            self._lines += 1
            if self._lines > MAX_LINES:
                raise AnswerFaultError("bad-answer", "sent more than an answer can hold; it was stopped.")
        del self._rest[:start]
        # A CR at the very end may be half of a CR LF: it is looked at again with the next chunk.
        self._searched = max(0, len(self._rest) - 1)
        if len(self._rest) + self._size > LARGEST_EVENT:
            raise AnswerFaultError("bad-answer", "sent an event that is too large; it was stopped.")
        return events

    def end(self) -> list[str]:
        """The data of an event that the stream's end completes."""
        events = self._line(bytes(self._rest).rstrip(b"\r")) if self._rest else []
        self._rest.clear()
        return [*events, *self._line(b"")]

    def _line_end(self, start: int) -> tuple[int, int] | None:
        """Where the line that begins at `start` ends, and where the next one begins."""
        search_from = max(start, self._searched)
        feed = self._rest.find(b"\n", search_from)
        turn = self._rest.find(b"\r", search_from, feed if feed >= 0 else len(self._rest))
        if turn >= 0:
            if turn + 1 == len(self._rest):
                return None
            return turn, turn + (2 if self._rest[turn + 1 : turn + 2] == b"\n" else 1)
        return None if feed < 0 else (feed, feed + 1)

    def _line(self, line: bytes) -> list[str]:
        if not line:
            data, self._data, self._size = self._data, [], 0
            return ["\n".join(data)] if data else []
        name, _, value = line.partition(b":")
        if name.removeprefix(b"\xef\xbb\xbf") == b"data":
            self._data.append(value.removeprefix(b" ").decode("utf-8", "replace"))
            self._size += len(value)
        return []
