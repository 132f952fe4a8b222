"""How many of the exact identifiers that later work needed does a summary keep?

`python tests/benchmarks/recall.py` takes the recorded sessions beside the checkout that hold one compaction,
with the metric that lies there too (`../shared/bench/recall.py`): a needed identifier stands before the
compaction, and the assistant uses it again after it. Each row is one view of what came before: the newest
messages alone, the offline summary alone, and the summary that a large model wrote at the time. `--kept N`
leaves the newest N tokens out of the summarized span, as a real compaction does; `--rounds N` compacts N
times on the way instead of once. `--shared` says where the sessions and the metric lie.

The last column is the ratio to the large model's recorded summary, from the same run.
"""

import argparse
import importlib.util
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from coppice.compaction.summarizer import SummaryRequest
from coppice.formats.reading import open_session
from coppice.models.offline.summarizer import summarize_offline
from coppice.tokens.counting import count_tokens
from coppice.tokens.measuring import size_of_message
from coppice.tree.entries import CompactionEntry, MessageEntry
from coppice.tree.messages import Message, ToolResultMessage

ROOT = Path(__file__).resolve().parents[2]
BUDGETS = (2_000, 4_000, 8_000)
SESSIONS = ("claude-code-session-1.jsonl", "claude-code-session-2.jsonl")


@dataclass
class View:
    """What stands in for the history: its name, its text, and how long it took to make, in seconds."""

    name: str
    budget: int | None
    text: str
    seconds: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--kept", type=int, default=0, help="newest tokens that stay out of the summary")
    parser.add_argument("--rounds", type=int, default=1, help="compactions on the way to the last one")
    options = parser.parse_args()
    metric_path = options.shared / "bench" / "recall.py"
    if not metric_path.is_file():
        print(f"{metric_path} is not there; this benchmark needs the metric and the sessions beside it.")
        return 1
    metric = _load(metric_path)
    head = ("budget", "tokens", "of before", "recall", "seconds")
    columns = f"{head[0]:>7} {head[1]:>7} {head[2]:>9} {head[3]:>7} {head[4]:>8}"
    print(f"{'session':30} {'view':22} {columns} ratio")
    for name in SESSIONS:
        _print_session(options.shared / "data" / name, metric, options.kept, options.rounds)
    return 0


def _print_session(path: Path, metric: ModuleType, kept_tokens: int, rounds: int) -> None:
    session = metric.load(str(path))
    messages = _messages_before_compaction(path)
    before = sum(size_of_message(message).tokenizer for message in messages)
    recorded = View("recorded large model", None, session.summary, 0.0)
    views = [recorded]
    for limit in BUDGETS:
        views.append(View("newest tokens only", limit, metric.recent(session.history, limit), 0.0))
        views.append(_offline(messages, limit, kept_tokens, rounds))
    base = metric.score(recorded.text, session.needed)
    for view in views:
        recall = metric.score(view.text, session.needed)
        tokens = count_tokens(view.text)
        budget = "" if view.budget is None else f"{view.budget:,}"
        print(
            f"{path.name:30} {view.name:22} {budget:>7} {tokens:7,} {tokens / before:9.1%} {recall:7.3f}"
            f" {view.seconds:8.2f} {recall / base:5.2f}"
        )
    print(f"{path.name:30} before: {before:,} tokens, {len(session.needed)} needed identifiers")


def _offline(messages: Sequence[Message], budget: int, kept_tokens: int, rounds: int) -> View:
    history, kept = _split(messages, kept_tokens)
    size = -(-len(history) // rounds)
    summary: str | None = None
    start = time.perf_counter()
    for first in range(0, len(history), size):
        part = history[first : first + size]
        last = first + size >= len(history)
        summary = summarize_offline(
            SummaryRequest(
                history=part,
                turn_prefix=(),
                kept=kept if last else (),
                previous_summary=summary,
                instructions=None,
                max_tokens=budget,
                count_tokens=count_tokens,
            )
        )
    return View("offline summary", budget, summary or "", time.perf_counter() - start)


def _split(messages: Sequence[Message], kept_tokens: int) -> tuple[Sequence[Message], Sequence[Message]]:
    cut, left = len(messages), kept_tokens
    while cut > 0 and left >= (size := size_of_message(messages[cut - 1]).tokenizer):
        left -= size
        cut -= 1
    while cut < len(messages) and isinstance(messages[cut], ToolResultMessage):
        cut += 1
    return messages[:cut], messages[cut:]


def _messages_before_compaction(path: Path) -> list[Message]:
    messages: list[Message] = []
    for entry in open_session(path, "auto"):
        if isinstance(entry, CompactionEntry):
            return messages
        if isinstance(entry, MessageEntry):
            messages.append(entry.message)
    return messages


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("shared_recall", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
