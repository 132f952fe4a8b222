"""Random faults during random operations: 1,000 scenarios in CI, fewer elsewhere.

`COPPICE_FAULT_SCENARIOS` sets how many, and `COPPICE_FAULT_SEED` repeats what was drawn.
"""

import math
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from attacks.cutting_proxy import cutting, through
from attacks.laboratory import Laboratory
from postgres_server import PostgresServer, fresh_schema, postgres

__all__ = ["postgres"]

pytestmark = pytest.mark.slow

SCENARIOS = int(os.environ.get("COPPICE_FAULT_SCENARIOS", "1000" if "CI" in os.environ else "160"))
SEED = int(os.environ.get("COPPICE_FAULT_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
BATCH = 250
"""Scenarios of a batch, at most: what it has written grows with each, and so does what a check reads."""
BATCH_SECONDS = 1_200
"""Three times what a batch took on two cores at a load of 13."""
SURE = 200
"""Scenarios among which each operation is drawn, and works, often."""


def batches(scenarios: int, at_least: int) -> list[int]:
    """The sizes of `at_least` batches, or of as many as hold `BATCH` scenarios each."""
    number = max(at_least, math.ceil(scenarios / BATCH))
    return [len(range(scenarios)[start::number]) for start in range(number)]


BATCHES = batches(SCENARIOS, 4)
SERVER_BATCHES = batches(SCENARIOS // 10, 1)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[bool]:
    """A file system of its own for the store, where that may be made; whether it was."""
    folder = tmp_path / "store"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=48m", "coppice-test", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0
    yield mounted
    if mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.timeout(BATCH_SECONDS)
@pytest.mark.parametrize("batch", range(len(BATCHES)))
def test_nothing_acknowledged_is_lost_under_faults(tmp_path: Path, *, small_disk: bool, batch: int) -> None:
    laboratory = Laboratory(tmp_path, SEED + batch, tmpfs=small_disk)
    print(f"COPPICE_FAULT_SEED={SEED}, batch {batch}, full disks: {small_disk}")
    laboratory.run(BATCHES[batch])
    print(f"ended without memory: {laboratory.exits}")
    assert sum(laboratory.drawn.values()) == BATCHES[batch]
    if BATCHES[batch] >= SURE:
        assert laboratory.conversations.prompted
        assert laboratory.conversations.compacted
        assert laboratory.conversations.cleared
        assert laboratory.conversations.notes


@pytest.mark.timeout(BATCH_SECONDS)
@pytest.mark.parametrize("batch", range(len(SERVER_BATCHES)))
def test_nothing_acknowledged_is_lost_on_a_database_server(
    tmp_path: Path, postgres: PostgresServer, batch: int
) -> None:
    print(f"COPPICE_FAULT_SEED={SEED}, batch {batch}")
    server, folder = postgres.folder, tmp_path / "proxy"
    folder.mkdir()
    with fresh_schema(postgres) as url, cutting(server, postgres.port, folder) as proxy:
        laboratory = Laboratory(tmp_path, SEED + batch, url=through(url, server, folder), proxy=proxy)
        laboratory.run(SERVER_BATCHES[batch])
    assert sum(laboratory.drawn.values()) == SERVER_BATCHES[batch]
    assert SERVER_BATCHES[batch] < SURE or proxy.cuts
