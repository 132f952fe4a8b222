"""The log of the adapters, which several processes write at once."""

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

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
