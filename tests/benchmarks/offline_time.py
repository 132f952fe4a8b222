"""How long an offline summary of some 200,000 tokens takes, and whether anything waits for it.

`PYTHONPATH=tests python tests/benchmarks/offline_time.py [--rounds 5]` prints the time of the rules, from the
messages of two recorded sessions to text, and of a compaction through the service, of a recorded session up
to its own first compaction, all but the newest 500 tokens: reading, rules, checks and the write. During the
compaction a task wakes each 5 ms: the most that a processor did for the process between two wakes is how long
the event loop was held at most, whatever else the machine does.
"""

import argparse
import asyncio
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final

from recall_exam import history, serving
from shared_data import shared_data
from takeover_exam import REQUEST, cut_session

from coppice.compaction.facts.ledger import LedgerBuilder
from coppice.protocol.compaction import CompactParams
from coppice.protocol.conversations import ImportParams
from coppice.protocol.navigation import NavigateParams
from coppice.service.core.progress import NoProgress
from coppice.summarizers.offline import summarize_offline
from coppice.tokens.measuring import size_of_entry
from coppice.tree.entries import MessageEntry

JOINED: Final = ("claude-code-session-1", "claude-code-session-2")
SESSION: Final = "codex-hk"
TICK: Final = 0.005
SETTINGS: Final = {"compaction": {"keepRecentTokens": 500}, "model": {"contextWindow": 1_000_000}}


def rules() -> tuple[int, float, float]:
    """The tokens of two sessions as one conversation, and the milliseconds from its messages to text, in all
    and of a processor.
    """
    entries = [entry for name in JOINED for entry in cut_session(name).entries]
    messages = [entry.message for entry in entries if isinstance(entry, MessageEntry)]
    tokens = sum(size_of_entry(entry).tokenizer for entry in entries)
    started, spent = time.perf_counter(), time.process_time()
    ledger = LedgerBuilder().add(entries).ledger
    summarize_offline(replace(REQUEST, history=messages, ledger=ledger))
    return tokens, (time.perf_counter() - started) * 1000, (time.process_time() - spent) * 1000


async def compaction(folder: Path) -> tuple[int, float, float, float]:
    """The tokens before; the milliseconds of the request, in all and of a processor; the most milliseconds of
    a processor between two wakes.
    """
    held = 0.0

    async def tick() -> None:
        nonlocal held
        while True:
            before = time.process_time()
            await asyncio.sleep(TICK)
            held = max(held, time.process_time() - before)

    async with serving(f"sqlite:///{folder}/time.sqlite") as service:
        session = shared_data() / f"{SESSION}.jsonl"
        made = await service.portability.import_(ImportParams(uri=session.as_uri()), NoProgress())
        about, (entries, _) = made.conversation.id, history(session)
        await service.navigating.navigate(
            NavigateParams(conversation_id=about, target_id=entries[-1].id), NoProgress()
        )
        ticking = asyncio.create_task(tick())
        await asyncio.sleep(2 * TICK)
        held, started, spent = 0.0, time.perf_counter(), time.process_time()
        params = CompactParams(conversation_id=about, settings=SETTINGS)
        done = await service.compacting.compact(params, NoProgress())
        took, spent = time.perf_counter() - started, time.process_time() - spent
        ticking.cancel()
    return done.tokens_before, took * 1000, spent * 1000, held * 1000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    by_rules = [rules() for _ in range(rounds)]
    print(f"rules:      {by_rules[0][0]:,} tokens, {_times(by_rules)}")
    compactions = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            os.environ["COPPICE_CONFIG_DIRECTORY"] = f"{name}/config"
            compactions.append(asyncio.run(compaction(Path(name))))
    print(f"compaction: {compactions[0][0]:,} tokens, {_times([each[:3] for each in compactions])}")
    print(f"event loop held at most, processor: {_figures([held for *_, held in compactions])}")


def _times(rounds: list[tuple[int, float, float]]) -> str:
    return (
        f"{_figures([took for _, took, _ in rounds])}; processor {_figures([spent for *_, spent in rounds])}"
    )


def _figures(values: list[float]) -> str:
    return f"median {median(values):,.0f} ms, worst {max(values):,.0f} ms"


if __name__ == "__main__":
    main()
