"""The log of the adapters, which several processes write at once."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import pytest
from systems import needs_forks

from coppice.agents import hook_log
from coppice.agents.hook_log import note, notes


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COPPICE_CONFIG_DIRECTORY", str(tmp_path))
    return tmp_path / "agents"


def write(writer: int) -> None:
    for number in range(30):
        note("pi", "failure", f"{writer}-{number}")


def test_no_line_is_lost_between_processes() -> None:
    with ProcessPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    texts = {each.text for each in notes("pi")}
    assert texts == {f"{writer}-{number}" for writer in range(4) for number in range(30)}


def test_the_log_is_bounded_and_its_newest_lines_stay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_log, "_MAX_BYTES", 1000)
    for number in range(200):
        note("codex", "compaction", f"line {number}")
    assert sum(file.stat().st_size for file in folder.iterdir()) < 2500
    texts = [each.text for each in notes("codex")]
    assert texts == [f"line {number}" for number in range(200 - len(texts), 200)]
    assert len(texts) > 10


def rotate(both: Barrier, writer: int) -> None:
    """Writes a line to a full log, and replaces the log only when both writers are about to, or one waits."""
    replace = Path.replace

    def replace_together(file: Path, target: Path) -> Path:
        with suppress(BrokenBarrierError):
            both.wait(timeout=1)
        return replace(file, target)

    Path.replace = replace_together  # type: ignore[method-assign, assignment]
    note("pi", "failure", f"writer {writer}")


@needs_forks
def test_a_full_log_is_rotated_by_one_of_two_processes(folder: Path) -> None:
    folder.mkdir()
    line = "2026-01-01T00:00:00+00:00 pi failure: before\n"
    count = hook_log._MAX_BYTES // len(line) + 1
    (folder / "hooks.log").write_text(line * count)
    context = multiprocessing.get_context("fork")
    both = context.Barrier(2)
    writers = [context.Process(target=rotate, args=(both, number)) for number in range(2)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    texts = [each.text for each in notes("pi")]
    assert texts[:count] == ["before"] * count
    assert sorted(texts[count:]) == ["writer 0", "writer 1"]
