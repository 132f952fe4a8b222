"""The simulated day of `day.py` in Claude Code, Codex, Pi and opencode, each alone and connected.

`COPPICE_TEST_AGENTS=~/agents PYTHONPATH=tests python tests/benchmarks/day_of_agents.py [AGENT…] [--turns 60]`
runs each agent once a turn, in one session with a home of its own, without Coppice and after
`coppice connect`. The model on loopback is that of the tests in `real_agents`: for each prompt it has a file
of 2,000 to 7,000 tokens printed, and answers. It counts as `day.py` does, by the cache rules of the provider
whose protocol the agent speaks. Each agent compacts at 100,000 tokens at most, the least that Claude Code
takes; Pi and opencode take another `--window`, of which they leave 16,384 and 4,000 for the reply.

A model that is asked for a summary takes `--reply-seconds` for it, and writes 1,500 tokens that name no fact
of the session; else it takes no time. `wait` is the time from a prompt or a tool's result to the request, in
seconds: the median of all requests, and of those before which was compacted the median and the longest. After
a prompt it has the agent's start in it. `minutes` is the time of all turns. `has` is how many of three facts
(a rule and a decision of the first prompt, a command that failed in the third turn) are in the last request.
"""

import argparse
import random
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Final

from provider_cache import ProviderCache
from real_agents.conftest import RealAgent, made_agent
from real_agents.recording import CONTINUE, SHELL
from real_agents.scripted_model import Answer, Asked, ScriptedModel
from real_agents.test_three_compactions import FACT, FAILING, OPTIONS, RULE, SUMMARY_REQUESTS

PROVIDERS: Final = {"claude-code": "anthropic", "codex": "openai", "opencode": "openai", "pi": "openai"}
WINDOWS: Final = {"pi": 116_384, "opencode": 104_000}
"""Tokens. The agent leaves some for the reply and compacts at 100,000."""
MORE: Final = {"codex": ("-c", "tool_output_token_limit=20000")}
"""Options with which a file is not cut."""
SEED: Final = 7
FILES: Final = 97
REPLY: Final = "It reads the file and returns its lines. " * 8
SUMMARY: Final = f"<summary>{'The files were read, and nothing was changed. ' * 130}</summary>"
SUMMARIZER: Final = "context summarization assistant"
"""What Pi calls a model that it asks for a summary."""
FAILING_TURN: Final = 2
COLUMNS: Final = (
    "agent",
    "",
    "requests",
    "compactions",
    "summaries",
    "largest",
    "M tokens",
    "cached",
    "dollars",
    "wait",
    "compacted",
    "longest",
    "minutes",
    "has",
)
SHORTER: Final = 0.75
"""A request with less than this share of the tokens of the one before comes after a compaction."""


class ModelOfDay:
    """Prints a file in each turn, and then answers."""

    def __init__(self, agent: RealAgent, reply_seconds: float) -> None:
        self.cache = ProviderCache(PROVIDERS[agent.name])
        self.summaries = 0
        self.waits: list[float] = []
        self.compacted: list[float] = []
        self.last = ""
        """The last request, without those for summaries and titles."""
        self.largest = 0
        self._tool, self._argument = SHELL[agent.name]
        self._reply_seconds = reply_seconds
        self._turn = -1
        self._has_read = False
        self._tokens = 0
        self._since = 0.0
        self._lock = threading.Lock()

    def begin(self, turn: int) -> None:
        self._turn, self._has_read = turn, False
        self._since = time.perf_counter()

    def __call__(self, asked: Asked) -> Answer:
        if SUMMARIZER in asked.text or any(mark in asked.last for mark in SUMMARY_REQUESTS):
            self.summaries += 1
            time.sleep(self._reply_seconds)
            return self._answer(asked, SUMMARY)
        if self._tool not in asked.tools:
            return self._answer(asked, "Files")
        waited = time.perf_counter() - self._since
        command = None if self._has_read else self._command()
        answer = self._answer(asked, REPLY if command is None else "I look.", command)
        was_compacted = answer.tokens < SHORTER * self._tokens
        (self.compacted if was_compacted else self.waits).append(waited)
        self._tokens, self.largest = answer.tokens, max(self.largest, answer.tokens)
        self._has_read, self.last = True, asked.text
        self._since = time.perf_counter()
        return answer

    def _command(self) -> str:
        return FAILING if self._turn == FAILING_TURN else f"cat src/part{self._turn % FILES}.py"

    def _answer(self, asked: Asked, text: str, command: str | None = None) -> Answer:
        with self._lock:
            sent, read, written = self.cache.count(asked.body, text)
        tool = None if command is None else self._tool
        arguments = {} if command is None else {self._argument: command}
        return Answer(text, tool, arguments, tokens=sent, read=read, written=written)


def write_files(project: Path) -> None:
    """The files that the model reads; Claude Code shows 30,000 characters of what a command prints."""
    (project / "src").mkdir()
    chance = random.Random(SEED)
    for number in range(FILES):
        path = f"src/part{number}.py"
        lines = (
            f"{path}:{n}: value_{chance.randrange(10**6)} = 1" for n in range(chance.randrange(250, 850))
        )
        (project / path).write_text("\n".join(lines), encoding="utf-8")


def day(name: str, turns: int, reply_seconds: float, window: int | None, *, connected: bool) -> str:
    model = ScriptedModel()
    with tempfile.TemporaryDirectory(prefix="day") as folder:
        agent = made_agent(name, model, Path(folder), window or WINDOWS.get(name, 0))
        assert agent is not None, f"{name} is not in the folder that COPPICE_TEST_AGENTS names"
        write_files(agent.project)
        if connected:
            agent.coppice("connect", name)
        script = ModelOfDay(agent, reply_seconds)
        model.script = script
        started = time.perf_counter()
        for turn in range(turns):
            opening = "" if turn else f"{RULE} {FACT} "
            script.begin(turn)
            agent.run(
                f"{opening}Question {turn}: how does part {turn % FILES} work?",
                *OPTIONS.get(name, ()),
                *MORE.get(name, ()),
                *(CONTINUE[name] if turn else ()),
            )
        minutes = (time.perf_counter() - started) / 60
    model.close()
    cache, compacted = script.cache, script.compacted or [0.0]
    has = sum(fact in script.last for fact in (RULE, FACT, FAILING))
    values = (
        name,
        "connected" if connected else "alone",
        cache.requests,
        len(script.compacted),
        script.summaries,
        script.largest,
        f"{cache.sent / 1e6:.1f}",
        f"{cache.read / cache.sent:.2f}",
        f"{cache.dollars:.2f}",
        f"{median(script.waits):.1f}",
        f"{median(compacted):.1f}",
        f"{max(compacted):.1f}",
        f"{minutes:.1f}",
        has,
    )
    return row(*values)


def row(*values: object) -> str:
    return " ".join(f"{value!s:>11}" for value in values)


def main(names: list[str], turns: int, reply_seconds: float, window: int | None) -> None:
    print(row(*COLUMNS))
    for name in names:
        for connected in (False, True):
            print(day(name, turns, reply_seconds, window, connected=connected), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agents", nargs="*", default=list(PROVIDERS), metavar="AGENT")
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--reply-seconds", type=float, default=5.0)
    parser.add_argument("--window", type=int)
    given = parser.parse_args()
    main(given.agents, given.turns, given.reply_seconds, given.window)
