"""The least that a request can come down to, and who is to blame when that is too much."""

from dataclasses import dataclass
from typing import Final

LEAST_SUMMARY: Final = 200
"""Tokens that a summary needs at least (guess)."""


@dataclass(frozen=True, slots=True)
class Floor:
    """What neither a compaction nor a truncation takes away, in tokens.

    `overhead_tokens` is what a request carries besides the view: the system prompt and tools, as far as the
    provider's count shows more than ours, and a prompt that is yet to come. `pinned` are pinned messages from
    before the tail.
    `tail` is the newest message that a cut is possible before, with what follows it, each tool result at its
    shortest. `summary` is the shortest summary of all else, or the one there is where no other can be made.
    """

    overhead_tokens: int
    pinned: int
    tail: int
    summary: int

    @property
    def hard(self) -> int:
        """What we have counted ourselves; `overhead_tokens` is only concluded."""
        return self.pinned + self.tail + self.summary

    @property
    def total(self) -> int:
        """Tokens that no truncation can save, with what is sent besides the conversation."""
        return self.hard + self.overhead_tokens

    def describe(self, view: "View") -> str:
        """The parts with their numbers, largest first, when they alone exceed the window."""
        if self.total < view.window:
            return ""
        parts = {
            "what is sent besides the conversation (system prompt, tools, prompt)": self.overhead_tokens,
            "pinned messages": self.pinned,
            "the newest message with what follows it": self.tail,
            "the summary": self.summary,
        }
        ordered = sorted(parts.items(), key=lambda part: -part[1])
        named = ", ".join(f"{name} {tokens:,}" for name, tokens in ordered if tokens)
        return f"What has to stay takes {self.total:,} tokens at least: {named}."

    def suggest(self, view: "View") -> str:
        """What a person can do."""
        largest = max(self.overhead_tokens, self.pinned, self.tail)
        if self.total < view.window:
            first = "Send a shorter system prompt or fewer tools"
        elif largest == self.pinned:
            first = "Unpin messages"
        elif largest == self.tail:
            first = "Go back before the newest message and send it in smaller pieces"
        else:
            first = "Send a shorter prompt, a shorter system prompt or fewer tools"
        return f"{first}, or choose a model with a larger window."


@dataclass(frozen=True, slots=True)
class View:
    """The view as it is: its size by our count, the model's window, and the size to stay within.

    `threshold` is the window less the reserve. All in tokens.
    """

    tokens: int
    window: int
    threshold: int

    def target(self, floor: Floor) -> int:
        """The size at which the view leaves room for the answer and for what is sent with it."""
        return self.threshold - self._overhead_tokens(floor)

    def fits(self, floor: Floor) -> bool:
        """Whether the request is smaller than the window."""
        return self.tokens + self._overhead_tokens(floor) < self.window

    def _overhead_tokens(self, floor: Floor) -> int:
        """Left out of account where there is no room for it: it is concluded from a provider's count, and
        may be our own counter's error.
        """
        return floor.overhead_tokens if floor.total < self.window else 0
