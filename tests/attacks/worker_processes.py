"""The processes that a server computes in, seen from a test."""

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from coppice.service.core import worker_process

TESTS = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def processes_that_know_the_tests(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    worker_process._POOL.end_idle()
    yield
    worker_process._POOL.end_idle()


def workers_of(process: int) -> list[psutil.Process]:
    children = psutil.Process(process).children(recursive=True)
    living = (child for child in children if child.status() != psutil.STATUS_ZOMBIE)
    return [child for child in living if "worker_main" in " ".join(child.cmdline())]
