"""Thinking that a model writes into its text: `<think>…</think>` at the very beginning.

Servers without a reasoning parser pass it on that way (llama.cpp, vLLM, Ollama, LM Studio). Anywhere else the
tag is the model's own words.
"""

from collections.abc import Callable
from typing import Final

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"


class ThinkTag:
    """Sorts pieces of text into thinking and text, holding back no more than may become a tag."""

    def __init__(self, text: Callable[[str], None], thinking: Callable[[str], None]) -> None:
        self._text = text
        self._thinking = thinking
        self._state = "start"
        self._held = ""
        self._blanks: list[str] = []

    def feed(self, piece: str) -> None:
        """Take in a piece of the content, which may end inside a tag."""
        if self._state == "text":
            self._text(piece)
            return
        self._held += piece
        if self._state == "start":
            self._start()
        if self._state == "thinking":
            self._think()
        if self._state == "after":
            self._after()

    def end(self) -> None:
        """Lets go of what is held: the answer is over."""
        held, self._held = self._held, ""
        if self._state == "thinking":
            self._thinking(held)
        elif self._state == "start":
            self._text("".join(self._blanks) + held)
        self._state = "text"

    def _start(self) -> None:
        begun = self._held.lstrip()
        self._blanks.append(self._held[: len(self._held) - len(begun)])
        self._held = begun
        if begun.startswith(_OPEN):
            self._state, self._held = "thinking", begun[len(_OPEN) :].lstrip("\n")
        elif not _OPEN.startswith(begun):
            self._state, held, self._held = "text", "".join(self._blanks) + begun, ""
            self._text(held)

    def _think(self) -> None:
        thought, closed, rest = self._held.partition(_CLOSE)
        if closed:
            self._thinking(thought.rstrip("\n"))
            self._state, self._held = "after", rest
            return
        keep = _tail_that_may_close(self._held)
        self._thinking(self._held[: len(self._held) - keep])
        self._held = self._held[len(self._held) - keep :]

    def _after(self) -> None:
        """The blank lines between the thinking and the text belong to neither."""
        rest = self._held.lstrip()
        self._held = ""
        if rest:
            self._state = "text"
            self._text(rest)


def _tail_that_may_close(text: str) -> int:
    longest = min(len(_CLOSE) - 1, len(text))
    return next((size for size in range(longest, 0, -1) if _CLOSE.startswith(text[-size:])), 0)
