"""How a summary came about, for the entry that holds it."""

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
    input_tokens: int = 0
    output_tokens: int = 0
    sentences: int = 0
    repaired: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def count_usage(self, message: AssistantMessage) -> None:
        """Counts a request and the tokens that its answer reports."""
        self.requests += 1
        if message.usage is not None:
            usage = message.usage
            self.input_tokens += usage.input + (usage.cache_read or 0) + (usage.cache_write or 0)
            self.output_tokens += usage.output

    def details(self) -> Mapping[str, Any]:
        """The counts as a compaction's details store them; those of zero are left out."""
        counts = {"chunksByRule": self.chunks_by_rule, "sentences": self.sentences}
        return {
            "chunks": self.chunks,
            **{name: count for name, count in counts.items() if count},
            "requests": self.requests,
            "tokens": {"input": self.input_tokens, "output": self.output_tokens},
            "repaired": list(dict.fromkeys(self.repaired)),
        }
