"""Progress in a pipe and on a terminal."""

import io
from pathlib import Path

import pytest
from cli.conftest import Coppice
from cli.sessions import long_session
from rich.console import Console

from coppice.cli.progress import BarProgress, LineProgress, watched


def test_a_pipe_gets_a_line_for_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    progress = LineProgress()
    progress.begin("Compacting")
    steps = [("Reading", 5), *((f"Summarizing, part {n} of 3", 20 * n) for n in (1, 2, 3)), ("Saving", 95)]
    for stage, percentage in steps:
        progress.report(stage, percentage)
    progress.end("9k → 2k tokens")
    assert capsys.readouterr().err.splitlines() == [
        "Compacting …",
        "Compacting: Reading (5 %)",
        "Compacting: Summarizing, part 1 of 3 (20 %)",
        "Compacting: Saving (95 %)",
        "Compacting: 9k → 2k tokens",
    ]


def test_a_long_step_is_reported_no_more_than_once_a_second(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(number / 10 for number in range(1000))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    progress = LineProgress()
    for count in range(31):
        progress.report(f"{count} entries", 50)
    printed = capsys.readouterr().err
    assert printed.count("\n") == 4
    assert "30 entries" in printed


def test_a_bar_ends_as_one_line() -> None:
    screen = io.StringIO()
    progress = BarProgress(Console(file=screen, force_terminal=False, width=100))
    progress.begin("Compacting")
    progress.report("Summarizing", 20)
    progress.end("Cancelled; nothing was changed")
    assert screen.getvalue().strip() == "Compacting: Cancelled; nothing was changed"


def test_where_it_goes_decides_its_form() -> None:
    assert isinstance(watched(Console(file=io.StringIO(), force_terminal=True)), BarProgress)
    assert isinstance(watched(Console(file=io.StringIO())), LineProgress)


def test_an_import_that_takes_long_is_reported(
    coppice: Coppice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coppice.cli.progress._QUICK_SECONDS", 0)
    ran = coppice("import", long_session(tmp_path, 150))
    lines = ran.err.splitlines()
    assert lines[0] == "Importing …"
    assert lines[-1] == "Importing: 600 entries"
