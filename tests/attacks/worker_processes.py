"""The processes that a server computes in, seen from a test."""

import os
import sys
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


@pytest.fixture
def no_worker_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All is computed in the test's own process, whose processor time then counts it."""
    monkeypatch.setattr(worker_process, "SMALL_TOKENS", sys.maxsize)
    worker_process._POOL.end_idle()
    yield
    assert workers_of(os.getpid()) == []


def workers_of(process: int) -> list[psutil.Process]:
    children = psutil.Process(process).children(recursive=True)
    return [child for child in children if "worker_main" in " ".join(_command(child))]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:  # it has ended
        return []
