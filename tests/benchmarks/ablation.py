"""What each pattern of the ledger's rules gains: the exam on real sessions without it, one after the other.

`python tests/benchmarks/ablation.py [MODULE …]` prints for each pattern of `coppice.compaction.ledger` and
`coppice.compaction.text` how the probes that offline summaries pass change when it never matches: in all, at
2,000, 4,000 and 8,000 tokens on the four sessions of `../shared/exam`, and the share of needed names. A rule
that gains nothing here may be needed by what the sessions lack: see the tests that fail without it.
"""

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from takeover_exam import SESSIONS, Cut, cut_session, score

from coppice.compaction import ledger, text
from coppice.compaction.ledger.shell import stages_of
from coppice.compaction.text.names import is_name

BUDGETS = (2_000, 4_000, 8_000)
Figures = tuple[int, int, float]


def main() -> int:
    cuts = [cut_session(name) for name in SESSIONS]
    whole = _figures(cuts)
    print(f"| without | probes of {len(BUDGETS) * len(cuts) * 24} | at 4,000 | needed |\n|---|---|---|---|")
    _print("nothing", whole, whole)
    for module, name in _patterns(sys.argv[1:]):
        pattern = getattr(module, name)
        setattr(module, name, re.compile("(?!)" + "()" * pattern.groups))
        _print(f"{module.__name__.rpartition('.')[2]}.{name}", _figures(cuts), whole)
        setattr(module, name, pattern)
    return 0


def _patterns(wanted: Sequence[str]) -> Iterator[tuple[ModuleType, str]]:
    for package in (ledger, text):
        for found in pkgutil.iter_modules(package.__path__):
            if wanted and found.name not in wanted:
                continue
            module = importlib.import_module(f"{package.__name__}.{found.name}")
            for name, value in vars(module).items():
                if isinstance(value, re.Pattern):
                    yield module, name


def _figures(cuts: Sequence[Cut]) -> Figures:
    """Probes at all sizes, at 4,000 tokens, and the mean share of needed names at all sizes."""
    stages_of.cache_clear()
    is_name.cache_clear()
    results = [(size, score(cut, cut.offline(size)[0])) for cut in cuts for size in BUDGETS]
    return (
        sum(result.total for _, result in results),
        sum(result.total for size, result in results if size == BUDGETS[1]),
        sum(result.precision for _, result in results) / len(results),
    )


def _print(name: str, figures: Figures, whole: Figures) -> None:
    shown = (f"{now} ({now - before:+d})" for now, before in zip(figures[:2], whole[:2], strict=True))
    print(f"| {name} | {' | '.join(shown)} | {figures[2]:.3f} ({figures[2] - whole[2]:+.3f}) |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
