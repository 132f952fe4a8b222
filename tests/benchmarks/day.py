"""A long day of one conversation: what a provider is sent, what it reads from its cache, and what that costs.

`PYTHONPATH=tests python tests/benchmarks/day.py [--turns 2000] [--provider anthropic]` runs turns with a
tool call each through `coppice/prompt` in a window of 64,000 tokens, twice: with clearing, with summaries
that are written before they are due and with the marks of the cache, and without all three. The provider on
loopback counts as its protocol's cache does: of Anthropic a beginning is read where an earlier request set
a mark at its end, or up to 20 blocks before a mark; of OpenAI in steps of 128 tokens from 1,024 on, marks
or not. Nothing expires. Summaries are written offline, and take `--summary-seconds` more, as a model's do.

While a summary is being written in the background, a reply takes `--reply-seconds`, as a real model's does;
else it takes none, which changes nothing but how long the day is. `wait` is the time from a prompt or a
tool's result to the request, in milliseconds: the median of all requests, and of those before which was
compacted the median and the 95th percentile.

In the first turns a command fails, a file is written and the user adds a note. `note` and `file` say whether
the last request has them word for word (a file that was changed is shown from the first compaction on), and
`error` whether `history_search` then finds the command's error.
"""

import argparse
import asyncio
import gc
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

import psutil
from conftest_service import Port
from models.provider_replies import anthropic_events, openai_events
from models.provider_server import Exchange, ProviderServer
from provider_cache import PRICES, ProviderCache
from recall_exam import serving
from typing_extensions import override

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.protocol.base import WireModel
from coppice.protocol.conversations import CreateParams
from coppice.protocol.history import SEARCH_TOOL, CallHistoryToolParams
from coppice.protocol.notes import AddNoteParams
from coppice.protocol.notifications import BackgroundCompactionChanged
from coppice.protocol.prompt import PromptParams
from coppice.protocol.server_requests import INVOKE_TOOL
from coppice.service.core.progress import NoProgress
from coppice.service.service import Service
from coppice.summarizers.offline import OfflineSummarizer

WINDOW: Final = 64_000
SEED: Final = 7
TOOLS: Final = [
    {"name": name, "description": description, "inputSchema": {"type": "object"}}
    for name, description in (
        ("read", "Reads a file."),
        ("write", "Writes a file."),
        ("bash", "Runs a command."),
    )
]
COMMAND: Final = "make gate"
ERROR: Final = "gate.py:41: ZeroDivisionError: 1600 larches over 0 gates (0x7f3a)"
PLAN: Final = "PLAN = 'water the larch by the gate'"
NOTE: Final = "Releases are cut on Tuesdays, never before noon."
SYSTEM: Final = "You are a coding agent. " * 40


@dataclass
class CachedModel:
    """Calls a tool and then answers."""

    cache: ProviderCache
    reply_seconds: float = 0.0
    is_background_busy: bool = False
    waits: list[float] = field(default_factory=list)
    since: float = 0.0
    last: Any = None
    """The messages of the last request."""

    async def __call__(self, exchange: Exchange) -> None:
        self.waits.append(time.perf_counter() - self.since)
        body = exchange.request.body
        self.last = body["messages"]
        calls = [] if _ends_with_result(body) else [_call(self.cache.requests)]
        text = "I look." if calls else "It reads the file and returns its lines. " * 8
        sent, read, written = self.cache.count(body, text)
        if self.is_background_busy:
            await asyncio.sleep(self.reply_seconds)
        make = anthropic_events if self.cache.provider == "anthropic" else openai_events
        await exchange.head()
        for event in make(text, calls=calls, usage=(sent, len(text) // 4 + 1)):
            await exchange.event(_with_cache(event, read, written))
        await exchange.end()
        self.since = time.perf_counter()


def _ends_with_result(body: dict[str, Any]) -> bool:
    last = body["messages"][-1]
    content = last["content"]
    return last["role"] == "tool" or (isinstance(content, list) and content[-1]["type"] == "tool_result")


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict() | list():
            for each in value.values() if isinstance(value, dict) else value:
                yield from _texts(each)


def _call(number: int) -> tuple[str, str, dict[str, Any]]:
    """That of the request of this number; each turn has two, of which the first is answered with a call."""
    name, arguments = {
        0: ("bash", {"command": COMMAND}),
        2: ("write", {"path": "src/plan.py", "content": PLAN}),
    }.get(number, ("read", {"path": f"src/part{number % 97}.py"}))
    return f"call{number}", name, arguments


def _with_cache(event: Any, read: int, written: int) -> Any:
    """The event with what the cache gave in its usage."""
    if not isinstance(event, dict):
        return event
    usage = event.get("message", event).get("usage")
    if event.get("type") == "message_start":
        usage |= {
            "input_tokens": usage["input_tokens"] - read - written,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
        }
    elif isinstance(usage, dict) and "prompt_tokens" in usage:
        usage["prompt_tokens_details"] = {"cached_tokens": read}
    return event


@dataclass(frozen=True, slots=True)
class SlowSummarizer:
    """The offline one, which takes as long as a model."""

    seconds: float

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        await asyncio.sleep(self.seconds)
        return await OfflineSummarizer().summarize(request)


class Tools(Port):
    """A client whose tools read files of 400 to 3,000 tokens, write one, and run a command that fails."""

    def __init__(self, model: CachedModel) -> None:
        super().__init__()
        self._model = model
        chance = random.Random(SEED)

        async def run(_method: str, params: WireModel) -> Any:
            called = params.model_dump(by_alias=True)
            if called["name"] != "read":
                failed = called["name"] == "bash"
                text = f"make: *** [gate] Error 2\n{ERROR}" if failed else "Written."
                return {"content": [{"type": "text", "text": text}], "isError": failed}
            lines = chance.randrange(60, 450)
            path = called["arguments"]["path"]
            text = "\n".join(f"{path}:{n}: value_{chance.randrange(10**6)} = 1" for n in range(lines))
            model.since = time.perf_counter()
            return {"content": [{"type": "text", "text": text}]}

        self.answer(run, INVOKE_TOOL)

    @override
    def notify(self, method: str, params: WireModel) -> None:
        if isinstance(params, BackgroundCompactionChanged):
            self._model.is_background_busy = params.status == "writing"


async def day(
    turns: int, provider: str, reply_seconds: float, slow: SlowSummarizer, *, everything: bool, clears: bool
) -> str:
    cache = ProviderCache(provider, marks_count=everything)
    model = CachedModel(cache, reply_seconds)
    process = psutil.Process()
    compactions = 0
    waited: list[float] = []
    memory: list[int] = []
    async with ProviderServer([model]) as server:
        settings = {
            "model": {"provider": provider, "name": "m", "baseUrl": server.url, "contextWindow": WINDOW},
            "summarizer": {"provider": "offline"},
            "tokens": {"counter": "estimate"},
            "compaction": {"background": everything, "clear": {"enabled": everything and clears}},
        }
        with tempfile.TemporaryDirectory() as folder:
            write_plan(folder)
            url, workspace = f"sqlite:///{folder}/day.sqlite", Path(folder).as_uri()
            summarizer = slow if slow.seconds else None
            async with serving(url, Tools(model), settings, workspace, summarizer) as service:
                await service.notes.add(AddNoteParams(text=NOTE))
                conversation_id = (await service.conversations.create(CreateParams())).conversation.id
                for turn in range(turns):
                    before = len(model.waits)
                    made = await one_turn(service, conversation_id, turn, model)
                    compactions += made
                    waited += [max(model.waits[before:])] if made else []
                    server.requests.clear()
                    memory.append(process.memory_info().rss)
                sent = "\n".join(_texts(model.last))
                parts = [NOTE in sent, f"{PLAN}\n\n</file-at-hand>" in sent]
                parts.append(await finds_error(service, conversation_id))
    quarter = turns // 4
    growth = max(memory[-quarter:]) / max(memory[quarter : 2 * quarter])
    typical, longest = _middle_and_slow(waited)
    return (
        f"{provider:10} {'on' if everything else 'off':4} {cache.requests:8,} {compactions:11} "
        f"{cache.sent / 1e6:8.1f} {cache.read / cache.sent:7.2f} {cache.dollars:7.2f} "
        f"{median(model.waits) * 1000:7.0f} {typical * 1000:9.0f} {longest * 1000:7.0f} {growth:7.2f} "
        + " ".join(f"{'yes' if each else 'no':>5}" for each in parts)
    )


def write_plan(folder: str) -> None:
    """The file that the second turn changes."""
    plan = Path(folder, "src", "plan.py")
    plan.parent.mkdir()
    plan.write_text(f"{PLAN}\n", encoding="utf-8")


async def finds_error(service: Service, conversation_id: str) -> bool:
    """Whether the history tool finds the error of the first turn, word for word."""
    question = {"query": f"Which error did {COMMAND} end with at the beginning?"}
    params = CallHistoryToolParams(conversation_id=conversation_id, name=SEARCH_TOOL, arguments=question)
    return ERROR in (await service.history_tools.call(params)).content[0].text


def _middle_and_slow(seconds: Sequence[float]) -> tuple[float, float]:
    """The median and the 95th percentile; zeros where there are fewer than two."""
    if len(seconds) < 2:
        return 0.0, 0.0
    twentieths = quantiles(seconds, n=20, method="inclusive")
    return median(seconds), twentieths[-1]


async def one_turn(service: Service, conversation_id: str, turn: int, model: CachedModel) -> int:
    """How many compactions were made in it."""
    params = PromptParams.model_validate(
        {
            "conversationId": conversation_id,
            "content": f"Question {turn}: how does part {turn % 97} work?",
            "tools": TOOLS,
            "system": SYSTEM,
        }
    )
    model.since = time.perf_counter()
    return len((await service.slash_commands.prompt(params, NoProgress())).compactions)


async def main(
    turns: int, provider: str, reply_seconds: float, slow: SlowSummarizer, *, clears: bool
) -> None:
    print(
        f"{'provider':10} {'':4} {'requests':>8} {'compactions':>11} {'M tokens':>8} "
        f"{'cached':>7} {'dollars':>7} {'wait':>7} {'compacted':>9} {'95 %':>7} {'memory':>7} "
        f"{'note':>5} {'file':>5} {'error':>5}"
    )
    gc.freeze()  # as the server does
    for everything in (True, False):
        done = await day(turns, provider, reply_seconds, slow, everything=everything, clears=clears)
        print(done, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--provider", choices=sorted(PRICES), default="anthropic")
    parser.add_argument("--reply-seconds", type=float, default=5.0)
    parser.add_argument("--summary-seconds", type=float, default=0.0)
    parser.add_argument("--without-clearing", action="store_true")
    given = parser.parse_args()
    clears = not given.without_clearing
    slow = SlowSummarizer(given.summary_seconds)
    asyncio.run(main(given.turns, given.provider, given.reply_seconds, slow, clears=clears))
