"""The bytes of a response's body: compressed once at most, though nobody asked for it."""

import asyncio
import zlib
from collections.abc import AsyncGenerator
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


async def decoded(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The body as it arrives, with at most one compression undone, in pieces of at most 16 KiB.

    The event loop runs between pieces, and who reads them decides when it is too much. Raises
    AnswerFaultError for another or a second compression, and for a body that its header misdescribes.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding in _NOT_ENCODED:
        async for chunk in response.aiter_raw():
            yield chunk
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
