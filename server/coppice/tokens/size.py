"""A size in tokens, by both counters at once, so that the setting can change without a recount."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """`tokenizer` is the BPE count, `estimate` the count of a quarter of the UTF-16 units."""

    tokenizer: int = 0
    estimate: int = 0

    def __add__(self, other: "Size") -> "Size":
        return Size(self.tokenizer + other.tokenizer, self.estimate + other.estimate)

    def __sub__(self, other: "Size") -> "Size":
        return Size(self.tokenizer - other.tokenizer, self.estimate - other.estimate)
