"""A long day of one conversation: what a provider is sent, what it reads from its cache, and what that costs.

`PYTHONPATH=tests python tests/benchmarks/day.py [--turns 2000] [--provider anthropic]` runs turns with a
tool call each through `coppice/prompt` in a window of 64,000 tokens, twice: with clearing, with summaries
that are written before they are due and with the marks of the cache, and without all three. The provider on
loopback counts as its protocol's cache does: of Anthropic a beginning is read where an earlier request set
a mark at its end, or up to 20 blocks before a mark; of OpenAI in steps of 128 tokens from 1,024 on, marks
or not. Nothing expires. Summaries are written offline.

While a summary is being written in the background, a reply takes `--reply-seconds`, as a real model's does;
else it takes none, which changes nothing but how long the day is. `wait` is the time from a prompt or a
tool's result to the request, in milliseconds: the median of all requests, and of those before which was
compacted the median and the 95th percentile.
"""

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from statistics import median, quantiles
from typing import Any, Final

import psutil
from conftest_service import Port
from models.provider_replies import anthropic_events, openai_events
from models.provider_server import Exchange, ProviderServer
from recall_exam import serving
from typing_extensions import override

from coppice.protocol.base import WireModel
from coppice.protocol.conversations import CreateParams
from coppice.protocol.notifications import BackgroundCompactionChanged
from coppice.protocol.prompt import PromptParams
from coppice.protocol.server_requests import INVOKE_TOOL
from coppice.service.core.progress import NoProgress
from coppice.service.service import Service

WINDOW: Final = 64_000
SEED: Final = 7
PRICES: Final = {"anthropic": (3.0, 0.3, 3.75, 15.0), "openai": (1.25, 0.125, 1.25, 10.0)}
"""Dollars for a million tokens: sent, read from the cache, written to it, answered. List prices of 2025."""
LOOKED_BACK: Final = 20  # blocks before a mark that Anthropic compares
STEP: Final = 128  # tokens, of OpenAI's cache
LEAST: Final = 1_024  # tokens that OpenAI caches
READ: Final = {"name": "read", "description": "Reads a file.", "inputSchema": {"type": "object"}}
SYSTEM: Final = "You are a coding agent. " * 40


@dataclass
class CachedModel:
    """Calls a tool and then answers. Counts what was sent, and what of it is in the cache."""

    anthropic: bool
    marks_count: bool
    reply_seconds: float = 0.0
    is_background_busy: bool = False
    sent: int = 0
    read: int = 0
    written: int = 0
    answered: int = 0
    requests: int = 0
    waits: list[float] = field(default_factory=list)
    since: float = 0.0
    _known: set[bytes] = field(default_factory=set)

    async def __call__(self, exchange: Exchange) -> None:
        self.waits.append(time.perf_counter() - self.since)
        blocks = list(_blocks(exchange.request.body))
        sizes = [len(text) // 4 for text, _ in blocks]
        read, written = self._cached(blocks, sizes)
        sent = sum(sizes)
        calls = [] if _ends_with_result(exchange.request.body) else [_call(self.requests)]
        text = "I look." if calls else "It reads the file and returns its lines. " * 8
        self.requests += 1
        self.sent, self.read, self.written = self.sent + sent, self.read + read, self.written + written
        self.answered += len(text) // 4
        if self.is_background_busy:
            await asyncio.sleep(self.reply_seconds)
        make = anthropic_events if self.anthropic else openai_events
        await exchange.head()
        for event in make(text, calls=calls, usage=(sent, len(text) // 4 + 1)):
            await exchange.event(_with_cache(event, read, written))
        await exchange.end()
        self.since = time.perf_counter()

    def _cached(self, blocks: Sequence[tuple[str, bool]], sizes: Sequence[int]) -> tuple[int, int]:
        """The tokens that are read and written of a request."""
        chain, digest, total = [], b"", 0
        for (text, _), size in zip(blocks, sizes, strict=True):
            digest, total = blake2b(digest + text.encode(), digest_size=16).digest(), total + size
            chain.append((digest, total))
        if not self.anthropic:
            hit = next((total for digest, total in reversed(chain) if digest in self._known), 0)
            self._known = {digest for digest, _ in chain}
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
    opening = [*body.get("tools", [])]
    system = body.get("system")
    opening += system if isinstance(system, list) else [system] if system else []
    messages: list[Any] = []
    for message in body["messages"]:
        content = message["content"]
        messages += content if isinstance(content, list) else [content]
        messages += message.get("tool_calls", [])
    for part in [*opening, *messages]:
        marked = isinstance(part, dict) and "cache_control" in part
        plain = {key: part[key] for key in part if key != "cache_control"} if marked else part
        yield json.dumps(plain), marked


def _ends_with_result(body: dict[str, Any]) -> bool:
    last = body["messages"][-1]
    content = last["content"]
    return last["role"] == "tool" or (isinstance(content, list) and content[-1]["type"] == "tool_result")


def _call(number: int) -> tuple[str, str, dict[str, Any]]:
    return f"call{number}", "read", {"path": f"src/part{number % 97}.py"}


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


class Tools(Port):
    """A client whose tool reads files of 400 to 3,000 tokens."""

    def __init__(self, model: CachedModel) -> None:
        super().__init__()
        self._model = model
        chance = random.Random(SEED)

        async def run(_method: str, params: WireModel) -> Any:
            lines = chance.randrange(60, 450)
            path = params.model_dump(by_alias=True)["arguments"]["path"]
            text = "\n".join(f"{path}:{n}: value_{chance.randrange(10**6)} = 1" for n in range(lines))
            model.since = time.perf_counter()
            return {"content": [{"type": "text", "text": text}]}

        self.answer(run, INVOKE_TOOL)

    @override
    def notify(self, method: str, params: WireModel) -> None:
        if isinstance(params, BackgroundCompactionChanged):
            self._model.is_background_busy = params.status == "writing"


async def day(
    turns: int, provider: str, reply_seconds: float, *, everything: bool, clears: bool = True
) -> str:
    model = CachedModel(provider == "anthropic", everything, reply_seconds)
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
            async with serving(f"sqlite:///{folder}/day.sqlite", Tools(model), settings) as service:
                conversation_id = (await service.conversations.create(CreateParams())).conversation.id
                for turn in range(turns):
                    before = len(model.waits)
                    made = await one_turn(service, conversation_id, turn, model)
                    compactions += made
                    waited += [max(model.waits[before:])] if made else []
                    server.requests.clear()
                    memory.append(process.memory_info().rss)
    quarter = turns // 4
    growth = max(memory[-quarter:]) / max(memory[quarter : 2 * quarter])
    sent, read, written, answered = PRICES[provider]
    plain = model.sent - model.read - model.written
    cost = (plain * sent + model.read * read + model.written * written + model.answered * answered) / 10**6
    typical, slow = _middle_and_slow(waited)
    return (
        f"{provider:10} {'on' if everything else 'off':4} {model.requests:8,} {compactions:11} "
        f"{model.sent / 1e6:8.1f} {model.read / model.sent:7.2f} {cost:7.2f} "
        f"{median(model.waits) * 1000:7.0f} {typical * 1000:9.0f} {slow * 1000:7.0f} {growth:7.2f}"
    )


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
            "tools": [READ],
            "system": SYSTEM,
        }
    )
    model.since = time.perf_counter()
    return len((await service.slash_commands.prompt(params, NoProgress())).compactions)


async def main(turns: int, provider: str, reply_seconds: float, *, clears: bool) -> None:
    print(
        f"{'provider':10} {'':4} {'requests':>8} {'compactions':>11} {'M tokens':>8} "
        f"{'cached':>7} {'dollars':>7} {'wait':>7} {'compacted':>9} {'95 %':>7} {'memory':>7}"
    )
    for everything in (True, False):
        print(await day(turns, provider, reply_seconds, everything=everything, clears=clears), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--provider", choices=sorted(PRICES), default="anthropic")
    parser.add_argument("--reply-seconds", type=float, default=5.0)
    parser.add_argument("--without-clearing", action="store_true")
    given = parser.parse_args()
    clears = not given.without_clearing
    asyncio.run(main(given.turns, given.provider, given.reply_seconds, clears=clears))
