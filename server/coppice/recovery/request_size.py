"""A request against the model's window, the least it can come down to, and what is to blame for that."""

from dataclasses import dataclass
from typing import Final

LEAST_SUMMARY: Final = 200
"""Tokens that a summary needs at least. The headings alone have 58."""


@dataclass(frozen=True, slots=True)
class RequestSize:
    """A request for a model of that `window`. All in tokens.

    `view_tokens` is the size of the view by our count, and `threshold` is the window less the reserve. What
    neither a compaction nor a truncation takes away follows. `overhead_tokens` is what a request carries
    besides the view: the system prompt and tools, as far as the provider's count shows more than ours, and a
    prompt that is yet to come. `pinned` are pinned messages from before the tail. `tail` is the newest
    message that a cut is possible before, with what follows it, each tool result at its shortest. `summary`
    is the shortest summary of all else, or the one there is where no other can be made.

    `stated_window` is the window that is set or was reported. `window` is less where the model refused a
    smaller request: what that had is too much.
    """

    view_tokens: int
    window: int
    threshold: int
    overhead_tokens: int
    pinned: int
    tail: int
    summary: int
    stated_window: int

    @property
    def size(self) -> str:
        """A sentence: how much was sent against which window."""
        if self._refused_less:
            return (
                f"The model refused what should fit: the conversation has {self.request_tokens:,} tokens by "
                f"our count, and its window is stated as {self.stated_window:,}."
            )
        return (
            f"The conversation does not fit the model: {self.request_tokens:,} tokens against a window of "
            f"{self.window:,}."
        )

    @property
    def request_tokens(self) -> int:
        """The view with what is sent besides it."""
        return self.view_tokens + self.overhead_tokens

    @property
    def least_view(self) -> int:
        """The least of what we have counted ourselves; `overhead_tokens` is only concluded."""
        return self.pinned + self.tail + self.summary

    @property
    def least_request(self) -> int:
        """Tokens that no truncation can save, with what is sent besides the conversation."""
        return self.least_view + self.overhead_tokens

    @property
    def target(self) -> int:
        """The size at which the view leaves room for the answer and for what is sent with it."""
        return self.threshold - self._credible_overhead

    @property
    def fits(self) -> bool:
        """Whether the request is smaller than the window."""
        return self.view_tokens + self._credible_overhead < self.window

    def describe(self) -> str:
        """The parts of the least with their numbers, largest first, when they alone exceed the window."""
        if self.least_request < self.window or self._refused_less:
            return ""
        parts = {
            "what is sent besides the conversation (system prompt, tools, prompt)": self.overhead_tokens,
            "pinned messages": self.pinned,
            "the newest message with what follows it": self.tail,
            "the summary": self.summary,
        }
        ordered = sorted(parts.items(), key=lambda part: -part[1])
        named = ", ".join(f"{name} {tokens:,}" for name, tokens in ordered if tokens)
        return f"What has to stay takes {self.least_request:,} tokens at least: {named}."

    def suggest(self) -> str:
        """What a person can do."""
        largest = max(self.overhead_tokens, self.pinned, self.tail)
        if self._refused_less:
            return (
                "Its system prompt and tools may take what is missing: send shorter or fewer ones, set "
                "`contextWindow` to the window that the model has, or choose one with a larger window."
            )
        if self.least_request < self.window:
            first = "Send a shorter system prompt or fewer tools"
        elif largest == self.pinned:
            first = "Unpin messages"
        elif largest == self.tail:
            first = "Go back before the newest message and send it in smaller pieces"
        else:
            first = "Send a shorter prompt, a shorter system prompt or fewer tools"
        return f"{first}, or choose a model with a larger window."

    @property
    def _refused_less(self) -> bool:
        """Whether nothing that we count explains the refusal."""
        return self.least_request < self.stated_window and self.window < self.stated_window

    @property
    def _credible_overhead(self) -> int:
        """Left out of account where there is no room for it: it is concluded from a provider's count, and
        may be our own counter's error.
        """
        return self.overhead_tokens if self.least_request < self.window else 0
