"""What it costs to match a path with ignore patterns: typical ones compared with git, and hostile ones.

Run it with: python tests/benchmarks/ignore_patterns.py
"""

import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from coppice.files.ignoring import ignored, patterns

COUNT = 10_000
TYPICAL = [*(f"folder{number}/" for number in range(150)), *(f"*.e{number}" for number in range(50))]
PATHS = [f"src/package/module/file{number}.py" for number in range(COUNT)]
HOSTILE = ["*a" * 100 + "b"] * 330
LONGEST_PATH = "a" * 250 + "/" + "a/" * 1_900


def ours(lines: Sequence[str], paths: Sequence[str]) -> float:
    """Seconds for a path."""
    rules = [patterns(lines)]
    began = time.perf_counter()
    for path in paths:
        ignored(path, rules)
    return (time.perf_counter() - began) / len(paths)


def of_git(lines: Sequence[str], paths: Sequence[str]) -> float:
    """Seconds for a path, of one process for all of them."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q", folder], check=True)
        Path(folder, ".gitignore").write_text("\n".join(lines), encoding="utf-8")
        command = ["git", "check-ignore", "--no-index", "--stdin"]
        began = time.perf_counter()
        subprocess.run(
            command, cwd=folder, input="\n".join(paths), text=True, check=False, capture_output=True
        )
        return (time.perf_counter() - began) / len(paths)


def main() -> None:
    mine, git = ours(TYPICAL, PATHS), of_git(TYPICAL, PATHS)
    print(
        f"{len(TYPICAL)} typical patterns: {mine * 1000:.3f} ms a path;"
        f" git {git * 1000:.3f} ms ({mine / git:.1f}x)"
    )
    size = sum(map(len, HOSTILE))
    slow = ours(HOSTILE, [LONGEST_PATH] * 20)
    print(f"{size:,} characters of stars, a path of {len(LONGEST_PATH):,}: {slow * 1000:.0f} ms")


if __name__ == "__main__":
    main()
