"""How many of the exact identifiers that later work needed does a summary keep?

`python tests/benchmarks/recall.py` takes the recorded sessions next to the checkout that hold one
compaction, with the metric that lies there too (`../shared/bench/recall.py`): a needed identifier is before
the compaction, and the assistant uses it again after it. Each row is one view of what came before: the
newest messages alone, the offline summary alone, the summary that a large model wrote at the time, and that
summary with what is computed after it. `--kept-tokens N` leaves the newest N tokens out of the summarized
span, as a real compaction does; `--rounds N` compacts N times on the way instead of once. `--shared` says
where the sessions and the metric lie.

`--model-url http://127.0.0.1:8000/v1` adds a real model at an OpenAI-compatible endpoint, in `--window`
tokens and at most `--chunks` parts a summary: all that it wrote, and the summary made of it.
After the row comes how it was made. A row whose model failed shows the offline summary that replaced
it, and says so. After `--seconds` the rest is written by rules. `--answers FILE` keeps what the model
answered, so that the same request is made once.

The last column is the ratio to the large model's recorded summary, from the same run.
"""

import argparse
import asyncio
import hashlib
import importlib.util
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.formats.reading import open_session
from coppice.models.chat import ChatModel, ChatRequest, ModelLimits, OnDelta
from coppice.models.choosing import chat_model
from coppice.settings import ModelSettings
from coppice.summarizers.fallback import FallbackSummarizer
from coppice.summarizers.llm import ModelSummarizer
from coppice.summarizers.offline import OfflineSummarizer, summarize_offline
from coppice.tokens.counting import count_tokens
from coppice.tokens.measuring import size_of_message
from coppice.tree.entries import CompactionEntry, MessageEntry
from coppice.tree.messages import AssistantMessage, Message, TextContent, ToolResultMessage, text_of

ROOT = Path(__file__).resolve().parents[2]
BUDGETS = (2_000, 4_000, 8_000)
SHOWN_DETAILS = ("chunks", "chunksByRule", "sentences", "tokens", "repaired")
SESSIONS = ("claude-code-session-1.jsonl", "claude-code-session-2.jsonl")


@dataclass
class View:
    """What replaces the history: its name, its text, and how long it took to make, in seconds."""

    name: str
    budget: int | None
    text: str
    seconds: float
    remark: str = ""


class Recorded:
    """A model that answers what a large model once wrote."""

    name = "recorded"
    edits_context = False

    def __init__(self, text: str) -> None:
        self._text = text

    async def limits(self) -> ModelLimits:
        return ModelLimits(200_000, None, "default")

    async def complete(self, request: ChatRequest, on_delta: OnDelta | None = None) -> AssistantMessage:
        del request, on_delta
        return AssistantMessage(content=[TextContent(text=self._text)], stop_reason="stop")

    async def close(self) -> None:
        return None


class RecordingModel:
    """`model`, with its answers kept, for this run and in the file `answers` for later ones."""

    def __init__(self, model: ChatModel, answers: Path | None) -> None:
        self._model = model
        self._file = answers
        self._known: dict[str, Any] = {}
        if answers is not None and answers.is_file():
            lines = answers.read_text(encoding="utf-8").splitlines()
            self._known = dict(json.loads(line) for line in lines)
        self.texts: list[str] = []

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def edits_context(self) -> bool:
        return self._model.edits_context

    async def limits(self) -> ModelLimits:
        return await self._model.limits()

    async def complete(self, request: ChatRequest, on_delta: OnDelta | None = None) -> AssistantMessage:
        asked = [
            request.system,
            request.max_tokens,
            *(item.message.model_dump() for item in request.messages),
        ]
        key = hashlib.sha256(json.dumps(asked).encode()).hexdigest()
        if key not in self._known:
            answer = await self._model.complete(request, on_delta)
            self._known[key] = answer.model_dump(mode="json", by_alias=True)
            if self._file is not None:
                with self._file.open("a", encoding="utf-8") as recording:
                    recording.write(json.dumps([key, self._known[key]]) + "\n")
        answer = AssistantMessage.model_validate(self._known[key])
        self.texts.append(text_of(answer.content))
        return answer

    async def close(self) -> None:
        await self._model.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument(
        "--kept-tokens", type=int, default=0, help="newest tokens that stay out of the summary"
    )
    parser.add_argument("--rounds", type=int, default=1, help="compactions on the way to the last one")
    parser.add_argument("--budgets", type=int, nargs="+", default=BUDGETS, help="in tokens")
    parser.add_argument("--model-url", help="a real model's endpoint, ending in /v1")
    parser.add_argument("--model-name", default="local")
    parser.add_argument("--window", type=int, default=4_096, help="the real model's window in tokens")
    parser.add_argument("--output", type=int, default=600, help="the most tokens of one answer")
    parser.add_argument("--chunks", type=int, default=24, help="the most parts of one of its summaries")
    parser.add_argument("--seconds", type=float, help="after which the rest of a summary is made by rules")
    parser.add_argument("--answers", type=Path, help="where the model's answers are kept")
    parser.add_argument("--sessions", nargs="+", default=SESSIONS, help="names of files in the shared data")
    options = parser.parse_args()
    metric_path = options.shared / "bench" / "recall.py"
    if not metric_path.is_file():
        print(f"{metric_path} is not there; this benchmark needs the metric and the sessions next to it.")
        return 1
    metric = _load(metric_path)
    head = ("budget", "tokens", "of before", "recall", "seconds")
    columns = f"{head[0]:>7} {head[1]:>7} {head[2]:>9} {head[3]:>7} {head[4]:>8}"
    print(f"{'session':30} {'view':22} {columns} ratio")
    for name in options.sessions:
        _print_session(options.shared / "data" / name, metric, options)
    return 0


def _print_session(path: Path, metric: ModuleType, options: argparse.Namespace) -> None:
    session = metric.load(str(path))
    messages = _messages_before_compaction(path)
    before = sum(size_of_message(message).tokenizer for message in messages)
    recorded = View("recorded large model", None, session.summary, 0.0)
    views = [recorded]
    for limit in options.budgets:
        views.append(View("newest tokens only", limit, metric.recent(session.history, limit), 0.0))
        views.append(_offline(messages, limit, options.kept_tokens, options.rounds))
        views.append(_written_by(Recorded(session.summary), _request(messages, limit, options.kept_tokens)))
        if options.model_url:
            views += _by_model(_request(messages, limit, options.kept_tokens), options)
    base = metric.score(recorded.text, session.needed)
    for view in views:
        recall = metric.score(view.text, session.needed)
        tokens = count_tokens(view.text)
        budget = "" if view.budget is None else f"{view.budget:,}"
        print(
            f"{path.name:30} {view.name:22} {budget:>7} {tokens:7,} {tokens / before:9.1%} {recall:7.3f}"
            f" {view.seconds:8.2f} {recall / base:5.2f}{view.remark}"
        )
    print(f"{path.name:30} before: {before:,} tokens, {len(session.needed)} needed identifiers")


def _offline(messages: Sequence[Message], budget: int, kept_tokens: int, rounds: int) -> View:
    history, following = _split(messages, kept_tokens)
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
                kept_messages=following if last else (),
                previous_summary=summary,
                instructions=None,
                max_tokens=budget,
                count_tokens=count_tokens,
            )
        )
    return View("offline summary", budget, summary or "", time.perf_counter() - start)


def _written_by(
    model: ChatModel, request: SummaryRequest, chunks: int = 1, seconds: float | None = None
) -> View:
    """The summary of `model`, with what is computed after its text."""
    start = time.perf_counter()
    chain = FallbackSummarizer(
        [
            ("model", ModelSummarizer(model, seconds=seconds, most_chunks=chunks)),
            ("offline", OfflineSummarizer()),
        ],
        seconds=7_200,
    )
    written = asyncio.run(_closing(model, chain, request))
    details = {name: written.details[name] for name in SHOWN_DETAILS if written.details.get(name)}
    remark = "".join(f"  {detail}" for detail in (details or "", *written.warnings))
    seconds = time.perf_counter() - start
    return View(f"{model.name[-14:]} + computed", request.max_tokens, written.text, seconds, remark)


async def _closing(model: ChatModel, chain: FallbackSummarizer, request: SummaryRequest) -> WrittenSummary:
    try:
        return await chain.summarize(request)
    finally:
        await model.close()


def _by_model(request: SummaryRequest, options: argparse.Namespace) -> list[View]:
    settings = ModelSettings(
        provider="openai",
        base_url=options.model_url,
        name=options.model_name,
        context_window=options.window,
        max_output_tokens=options.output,
    )
    recording = RecordingModel(chat_model(settings), options.answers)
    written = _written_by(recording, request, options.chunks, options.seconds)
    alone = View(
        f"{recording.name[-14:]} alone", request.max_tokens, "\n".join(recording.texts), written.seconds
    )
    return [alone, written]


def _request(messages: Sequence[Message], budget: int, kept_tokens: int) -> SummaryRequest:
    history, following = _split(messages, kept_tokens)
    return SummaryRequest(
        history=history,
        turn_prefix=(),
        kept_messages=following,
        previous_summary=None,
        instructions=None,
        max_tokens=budget,
        count_tokens=count_tokens,
    )


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
