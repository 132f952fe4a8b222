"""Settings of the whole suite."""

import os
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Python writes what it compiles: the tests start it hundreds of times.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No deadline: a test is judged by its result, and the suite's timeout bounds its duration.
settings.register_profile("coppice", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("coppice")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """No workers where tests are named one by one: their start takes longer than the tests."""
    return 0 if config.args and all("::" in argument for argument in config.args) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that run on PostgreSQL: those that use the server, or a store on it."""
    for item in items:
        if "postgres" in getattr(item, "fixturenames", ()) or "postgresql" in item.name:
            item.add_marker(pytest.mark.postgres)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints each reason for skipping once, with the number of tests it concerns."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in reports)
    for reason, tests in reasons.most_common():
        terminalreporter.write_line(f"SKIPPED {tests}: {reason}")


@pytest.fixture
def data_directory(tmp_path: Path) -> Path:
    """Where the stores of a service lie."""
    return tmp_path / "data"
