"""How a summary came about, for the entry that holds it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from coppice.tree.messages import AssistantMessage


@dataclass(slots=True)
class SummaryStats:
    """How a summary came about, gathered while it is made."""

    requests: int = 0
    chunks: int = 0
    chunks_by_rule: int = 0
    tokens: Counter[str] = field(default_factory=Counter)
    milliseconds: Counter[str] = field(default_factory=Counter)
    sentences: int = 0
    repaired: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def count_request(self, reply: AssistantMessage) -> None:
        """Counts a request, the tokens that its reply reports, and how long it took."""
        self.requests += 1
        if (usage := reply.usage) is not None:
            self.tokens.update(input=usage.request_tokens, output=usage.output)
            self.tokens.update(cacheRead=usage.cache_read or 0, cacheWrite=usage.cache_write or 0)
        if (times := reply.milliseconds) is not None:
            self.milliseconds.update(firstToken=times.first_token, whole=times.whole)

    def details(self) -> Mapping[str, Any]:
        """The counts as a compaction's details store them; those of zero are left out."""
        counts = {"chunksByRule": self.chunks_by_rule, "sentences": self.sentences}
        return {
            "chunks": self.chunks,
            **{name: count for name, count in counts.items() if count},
            "requests": self.requests,
            "tokens": {"input": 0, "output": 0, **+self.tokens},
            "milliseconds": dict(self.milliseconds),
            "repaired": list(dict.fromkeys(self.repaired)),
        }
