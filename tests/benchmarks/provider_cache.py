"""What a provider's cache gives of each request, and what the requests cost."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

PRICES: Final = {"anthropic": (3.0, 0.3, 3.75, 15.0), "openai": (1.25, 0.125, 1.25, 10.0)}
"""Dollars for a million tokens: sent, read from the cache, written to it, answered. List prices of 2025."""
LOOKED_BACK: Final = 20  # blocks before a mark that Anthropic compares
STEP: Final = 128  # tokens, of OpenAI's cache
LEAST: Final = 1_024  # tokens that OpenAI caches


@dataclass
class ProviderCache:
    """Counts tokens as a quarter of the characters. Nothing expires."""

    provider: str
    marks_count: bool = True
    sent: int = 0
    read: int = 0
    written: int = 0
    answered: int = 0
    requests: int = 0
    _known: set[bytes] = field(default_factory=set)

    def count(self, body: dict[str, Any], reply: str) -> tuple[int, int, int]:
        """The tokens that are sent with a request, and those of them that are read and written."""
        blocks = list(_blocks(body))
        sizes = [len(text) // 4 for text, _ in blocks]
        read, written = self._cached(blocks, sizes)
        sent = sum(sizes)
        self.requests += 1
        self.sent, self.read, self.written = self.sent + sent, self.read + read, self.written + written
        self.answered += len(reply) // 4
        return sent, read, written

    @property
    def dollars(self) -> float:
        """What all that was counted costs."""
        plain = self.sent - self.read - self.written
        counts = (plain, self.read, self.written, self.answered)
        return sum(count * price for count, price in zip(counts, PRICES[self.provider], strict=True)) / 10**6

    def _cached(self, blocks: Sequence[tuple[str, bool]], sizes: Sequence[int]) -> tuple[int, int]:
        chain, digest, total = [], b"", 0
        for (text, _), size in zip(blocks, sizes, strict=True):
            digest, total = blake2b(digest + text.encode(), digest_size=16).digest(), total + size
            chain.append((digest, total))
        if self.provider == "openai":
            hit = next((total for digest, total in reversed(chain) if digest in self._known), 0)
            self._known |= {digest for digest, _ in chain}
            return (hit // STEP * STEP if hit >= LEAST else 0), 0
        marks = [place for place, (_, marked) in enumerate(blocks) if marked and self.marks_count]
        hit = max(
            (
                chain[place][1]
                for mark in marks
                for place in range(max(0, mark - LOOKED_BACK), mark + 1)
                if chain[place][0] in self._known
            ),
            default=0,
        )
        self._known |= {chain[place][0] for place in marks}
        return hit, max((chain[place][1] for place in marks), default=0) - hit if marks else 0


def _blocks(body: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """The parts of a request in the order in which they are cached, each with whether it is marked."""
    system = body.get("system") or body.get("instructions") or []
    opening = [*(body.get("tools") or []), *([system] if isinstance(system, str) else system)]
    messages: list[Any] = []
    for message in body.get("messages") or body["input"]:
        content = message.get("content", message)
        messages += content if isinstance(content, list) else [content]
        messages += message.get("tool_calls", [])
    for part in [*opening, *messages]:
        marked = isinstance(part, dict) and "cache_control" in part
        plain = {key: part[key] for key in part if key != "cache_control"} if marked else part
        yield json.dumps(plain), marked
