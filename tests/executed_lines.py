"""Which lines of the package ran, in whatever process: `.ci/coverage` prints it for each suite.

Each process marks a line in a file that all of them map, when the line runs for the first time. What a
process did that was killed, or forked from another one, is therefore counted too; coverage.py writes when a
process ends. Needs Python 3.12 or newer, whose `sys.monitoring` reports a line once.
"""

import json
import mmap
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Final

_INDEX: Final = "index.json"
_MARKS: Final = "marks"


def prepare(folder: Path, package: Path) -> None:
    """Makes the files: a byte for each line of the package's modules, in the order of the index."""
    index, size = {}, 0
    for module in sorted(package.rglob("*.py")):
        index[str(module)] = size
        size += len(module.read_text(encoding="utf-8").splitlines()) + 1
    (folder / _INDEX).write_text(json.dumps(index), encoding="utf-8")
    (folder / _MARKS).write_bytes(bytes(size))


def watch(folder: Path) -> None:
    """Marks the lines that this process runs from now on, and those of the processes forked from it."""
    if sys.version_info >= (3, 12) and sys.monitoring.get_tool(sys.monitoring.COVERAGE_ID) is None:
        index: dict[str, int] = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
        with (folder / _MARKS).open("r+b") as file:
            marks = mmap.mmap(file.fileno(), 0)
        monitoring = sys.monitoring

        def begin(code: CodeType, _offset: int) -> object:
            if code.co_filename in index:
                monitoring.set_local_events(monitoring.COVERAGE_ID, code, monitoring.events.LINE)
            return monitoring.DISABLE

        def mark(code: CodeType, line: int) -> object:
            marks[index[code.co_filename] + line] = 1
            return monitoring.DISABLE

        monitoring.use_tool_id(monitoring.COVERAGE_ID, "coppice")
        monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.PY_START, begin)
        monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, mark)
        monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.PY_START)


def marked(folder: Path) -> Iterator[tuple[Path, set[int], set[int]]]:
    """Each module with the numbers of its lines that can run, and of those that did."""
    index: dict[str, int] = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
    marks = (folder / _MARKS).read_bytes()
    for name, start in index.items():
        module = Path(name)
        lines = set(_lines(compile(module.read_bytes(), name, "exec")))
        yield module, lines, {line for line in lines if marks[start + line]}


def _lines(code: CodeType) -> Iterator[int]:
    yield from (line for _, _, line in code.co_lines() if line)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines(constant)


def main(arguments: list[str]) -> None:
    """`prepare FOLDER PACKAGE`, `share FOLDER`, or `absent FOLDER…`: the lines that ran in none of them."""
    action, *paths = arguments
    if action == "prepare":
        prepare(Path(paths[0]), Path(paths[1]))
    elif action == "share":
        modules = list(marked(Path(paths[0])))
        print(f"{sum(len(ran) for *_, ran in modules) / sum(len(lines) for _, lines, _ in modules):.1%}")
    else:
        for folders in zip(*(marked(Path(path)) for path in paths), strict=True):
            module, lines, _ = folders[0]
            text = module.read_text(encoding="utf-8").splitlines()
            for line in sorted(lines.difference(*(ran for *_, ran in folders))):
                print(f"{module}:{line}: {text[line - 1].strip()}")


if __name__ == "__main__":
    main(sys.argv[1:])
