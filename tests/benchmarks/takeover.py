"""What a colleague who has only the summary knows: the exam on real sessions, by machine.

`python tests/benchmarks/takeover.py` prints for each session of `../shared/exam` how many of its 24 probes
each summary passes, in all and by kind, its tokens, the share of its characters in word lists, the share of
its names that later work used, the statements with a value that a later run of the same command replaced,
and its milliseconds of processor time: offline at 2,000, 4,000 and 8,000 tokens,
and the summary that the session's own model recorded. `--parked FOLDER` adds texts that a strong model
wrote, `FOLDER/SESSION*.md`. `--show` prints the offline summaries of 4,000 tokens.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from takeover_exam import SESSIONS, Cut, cut_session, score

BUDGETS = (2_000, 4_000, 8_000)
KINDS = ("intent", "state", "decisions", "trouble", "specifics", "next")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parked", type=Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    print(f"| session | summary | of 24 | {' | '.join(KINDS)} | tokens | word lists | needed | stale | ms |")
    print("|---|---|---|" + "---|" * (len(KINDS) + 5))
    for name in SESSIONS:
        cut = cut_session(name)
        for budget in BUDGETS:
            text, milliseconds = cut.offline(budget)
            _print(cut, f"offline, {budget:,}", text, milliseconds)
            if options.show and budget == BUDGETS[1]:
                print(f"\n{text}\n")
        if "## " in cut.recorded or len(cut.recorded) > BUDGETS[0]:
            _print(cut, "recorded", cut.recorded, None)
        for path in sorted(options.parked.glob(f"{name}*.md")) if options.parked else ():
            _print(
                cut,
                path.stem.removeprefix(name).strip(".-") or "parked",
                path.read_text(encoding="utf-8"),
                None,
            )
    return 0


def _print(cut: Cut, label: str, text: str, milliseconds: float | None) -> None:
    result = score(cut, text)
    kinds = " | ".join(str(result.passed.get(kind, 0)) for kind in KINDS)
    took = f"{milliseconds:.0f}" if milliseconds is not None else ""
    print(
        f"| {cut.name} | {label} | {result.total} | {kinds} | {result.tokens:,} | {result.word_lists:.0%} "
        f"| {result.precision:.2f} | {result.stale} | {took} |"
    )


if __name__ == "__main__":
    sys.exit(main())
