"""What five compactions in a row forget, by the compaction-conformance-kit of PyPI (0.8).

The kit is no dependency of the project: install it in an environment of its own and name its folder,

    python -m venv /tmp/kit && /tmp/kit/bin/pip install compaction-conformance-kit
    python tests/benchmarks/conformance.py --kit /tmp/kit/lib/python3.11/site-packages

Prints, for each budget as a share of the transcript, which share of what was planted survives by type, and
how many values that a later statement replaced are still there.
"""

import argparse
import importlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from documents import parts_of

from coppice.compaction.asking.summarizer import SummaryRequest
from coppice.compaction.facts.ledger import LedgerBuilder, ledger_details
from coppice.summarizers.offline import summarize_offline
from coppice.tokens.counting import count_tokens
from coppice.tree.messages import AssistantMessage, Message, SystemMessage, TextContent, UserMessage

ROUNDS = 5
BUDGETS = (0.3, 0.5, 1.0)
LARGEST = 1_000_000
CHARS_PER_TOKEN = 4


class Offline:
    """The offline summarizer as the kit calls it; the ledger goes from round to round as in an entry."""

    name = "coppice-offline"

    def __init__(self, context: Any) -> None:
        self._context = context
        self._details: dict[str, Any] = {}

    def compact(self, turns: list[Any], round_num: int = 1, budget_chars: int | None = None) -> Any:
        builder = LedgerBuilder.from_details(self._details)
        messages = [_message(turn.role, turn.text) for turn in turns if not turn.text.startswith("## Goal")]
        builder.add_messages(messages)
        self._details = {"ledger": ledger_details(builder.ledger)}
        limit = (budget_chars or LARGEST) // CHARS_PER_TOKEN
        request = SummaryRequest((), (), (), None, None, max_tokens=limit, count_tokens=count_tokens)
        asked = replace(request, ledger=builder.ledger)
        parts = parts_of(asked).text
        narrative = summarize_offline(replace(asked, max_tokens=max(1, limit - count_tokens(parts))))
        text = f"{narrative}\n\n{parts}"
        return self._context(text=text, compactor_name=self.name, round_num=round_num)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kit", type=Path, required=True)
    options = parser.parse_args()
    sys.path.insert(0, str(options.kit))
    kit = importlib.import_module("compaction_kit")
    result = kit.run_budget_benchmark(
        {"coppice-offline": lambda: Offline(kit.CompactedContext)}, budgets=BUDGETS, rounds=ROUNDS
    )
    for entry in result["entries"]:
        print(f"budget {entry['budget_fraction']:.0%}, {entry['runtime_seconds']} s")
        randomized = entry["randomized"]
        print("  survival", randomized["overall_final_survival"], randomized["final_median_by_type"])
        print("  replaced values, same wording", randomized["supersession"])
        print("  replaced values, other wording", entry["semantic"]["conflicts"])
    return 0


def _message(role: str, text: str) -> Message:
    if role == "assistant":
        return AssistantMessage(content=[TextContent(text=text)])
    return UserMessage(content=text) if role == "user" else SystemMessage(content=text)


if __name__ == "__main__":
    sys.exit(main())
