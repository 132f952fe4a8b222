"""The simulated day of `day.py` in Pi, with its own way to keep the window small.

`COPPICE_TEST_AGENTS=~/agents PYTHONPATH=tests python tests/benchmarks/day_of_pi.py [--turns 120]` runs Pi
once a turn, in one session, against the same model with the same cache rules, window and sizes of files, and
prints the row of `day.py`. Its summaries are asked from that model, which answers with 1,500 tokens: what
they take is counted too. There is no wait to compare: a turn here starts a process.
"""

import argparse
import asyncio
import json
import os
import random
import tempfile
from pathlib import Path
from typing import Final

from day import PRICES, SEED, WINDOW, CachedModel
from models.provider_replies import anthropic_events
from models.provider_server import Exchange, ProviderServer
from real_agents.conftest import AGENTS, NODE

PROVIDER: Final = "anthropic"
FILES: Final = 97  # as many names as `day.py` has
SUMMARY: Final = "The files were read one after the other, and nothing was changed in them. " * 80
PROGRAM: Final = AGENTS / "pi" / "node_modules" / ".bin" / "pi"


class ModelOfPi(CachedModel):
    """Answers a request without tools, which is for a summary, with one."""

    summaries = 0

    async def __call__(self, exchange: Exchange) -> None:
        if exchange.request.body.get("tools"):
            await super().__call__(exchange)
            return
        self.summaries += 1
        blocks = json.dumps(exchange.request.body["messages"])
        self.sent += len(blocks) // 4
        self.answered += len(SUMMARY) // 4
        await exchange.head()
        for event in anthropic_events(SUMMARY, usage=(len(blocks) // 4, len(SUMMARY) // 4)):
            await exchange.event(event)
        await exchange.end()


def set_up(home: Path, project: Path, url: str) -> None:
    """Pi's settings, and the files that the model reads."""
    model = {
        "id": "m",
        "name": "m",
        "contextWindow": WINDOW,
        "maxTokens": 4000,
        "input": ["text"],
        "reasoning": False,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
    }
    provider = {"baseUrl": url, "api": "anthropic-messages", "apiKey": "scripted", "models": [model]}
    settings = home / ".pi" / "agent" / "models.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"providers": {"scripted": provider}}), encoding="utf-8")
    (project / "src").mkdir(parents=True)
    chance = random.Random(SEED)
    for number in range(FILES):
        path = f"src/part{number}.py"
        lines = (f"{path}:{n}: value_{chance.randrange(10**6)} = 1" for n in range(chance.randrange(60, 450)))
        (project / path).write_text("\n".join(lines), encoding="utf-8")


async def day_of_pi(turns: int) -> str:
    model = ModelOfPi(anthropic=True, marks_count=True)
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder) / "home", Path(folder) / "project"
        async with ProviderServer([model]) as server:
            set_up(home, project, server.origin)
            own = {"HOME": str(home), "PI_OFFLINE": "1", "PATH": f"{NODE}{os.pathsep}{os.environ['PATH']}"}
            for turn in range(turns):
                process = await asyncio.create_subprocess_exec(
                    str(PROGRAM),
                    *("--provider", "scripted", "--model", "m", *(["-c"] if turn else []), "-p"),
                    f"Question {turn}: how does part {turn % FILES} work?",
                    cwd=project,
                    env={**os.environ, **own},
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.STDOUT,
                )
                output, _ = await process.communicate()
                assert process.returncode == 0, output.decode()[-2000:]
                server.requests.clear()
    sent, read, written, answered = PRICES[PROVIDER]
    plain = model.sent - model.read - model.written
    cost = (plain * sent + model.read * read + model.written * written + model.answered * answered) / 10**6
    return (
        f"{PROVIDER:10} {'Pi':4} {model.requests:8,} {model.summaries:11} {model.sent / 1e6:8.1f} "
        f"{model.read / model.sent:7.2f} {cost:7.2f}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=120)
    print(f"{'provider':10} {'':4} {'requests':>8} {'summaries':>11} {'M tokens':>8} {'cached':>7} dollars")
    print(asyncio.run(day_of_pi(parser.parse_args().turns)))
