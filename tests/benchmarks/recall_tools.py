"""Does the first page of `recall` hold the answer to a question asked in its own words, and how soon?

`PYTHONPATH=tests python tests/benchmarks/recall_tools.py [--sizes 1000,1000000 [--stores DIR]]` asks the
questions of `shared/exam` about the sessions of `shared/data`, each of the history before its first
compaction, with 4,000 and 2,000 tokens of answer, and those of `recall_questions` of a whole session, in
English and Chinese. Then it asks the same questions of conversations of those lengths, made of the
messages of a real session, and prints the ratio of the times;
`--stores` keeps these conversations for a next run.

`recall_exam.py` has the rule by which an answer is found. Word matching is what `coppice/conversation/search`
does with the same question: every word must occur.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

from flat_cost_building import build_store, load_sample, records
from recall_exam import exams, own_scores, recalled, scores, serving, total

ROOT: Final = Path(__file__).resolve().parents[2]
ROUNDS: Final = 5
PAGES: Final = (4000, 2000)
"""Tokens of the first page."""
CONVERSATION: Final = "benchmark"


async def quality(shared: Path, folder: Path) -> None:
    for tokens in PAGES:
        (place := folder / f"{tokens}").mkdir()
        print(f"{f'{tokens:,} tokens':28} asked answerable  item  share  page  peer word matching")
        recorded_scores = await scores(shared, place, tokens)
        for name, each in [
            *recorded_scores,
            ("all", total(recorded_scores)),
            *await own_scores(shared, place, tokens),
        ]:
            print(each.row(name))


async def speed(shared: Path, folder: Path, sizes: Sequence[int]) -> None:
    """The time of a page, in turns over the sizes, so that whatever else the machine does falls on all."""
    sample = load_sample(shared, ROOT / "docs" / "examples")
    asked = [question["question"] for _, questions in exams(shared) for question in questions][::4]
    taken: dict[int, list[float]] = {size: [] for size in sizes}
    for size in sizes:
        started = time.monotonic()
        if not (folder / f"{size}.sqlite").exists():
            build_store(url_of(folder, size), CONVERSATION, records(sample, size, branchy=False))
        async with serving(url_of(folder, size)) as service:
            await recalled(service, CONVERSATION, "anything", None)
        print(f"{size:,} entries of {sample.origin}: built and indexed in {time.monotonic() - started:.0f} s")
    for _ in range(ROUNDS):
        for size in sizes:
            async with serving(url_of(folder, size)) as service:
                await recalled(service, CONVERSATION, asked[0], None)
                for question in asked:
                    started = time.perf_counter()
                    await recalled(service, CONVERSATION, question, None)
                    taken[size].append((time.perf_counter() - started) * 1000)
    first = median(taken[sizes[0]])
    for size in sizes:
        middle, slowest = median(taken[size]), sorted(taken[size])[int(len(taken[size]) * 0.95)]
        print(
            f"{size:>9,} entries: median {middle:.0f} ms, 95 % {slowest:.0f} ms, ratio {middle / first:.2f}"
        )


def url_of(folder: Path, size: int) -> str:
    return f"sqlite:///{folder}/{size}.sqlite"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--sizes", default="", help="lengths of conversations, as in 1000,1000000")
    parser.add_argument("--stores", type=Path, help="folder that keeps the long conversations for a next run")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["COPPICE_CONFIG_DIRECTORY"] = str(folder / "config")
        asyncio.run(quality(arguments.shared, folder))
        sizes = [int(size) for size in arguments.sizes.split(",") if size]
        if sizes:
            asyncio.run(speed(arguments.shared, arguments.stores or folder, sizes))


if __name__ == "__main__":
    main()
