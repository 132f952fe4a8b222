"""Random faults during random operations: 1,000 scenarios in CI, fewer elsewhere.

`COPPICE_FAULT_SCENARIOS` sets how many, and `COPPICE_FAULT_SEED` repeats what was drawn.
"""

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
BATCHES = 4
SURE = 200
"""Scenarios among which each operation is drawn, and works, often."""


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


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("batch", range(BATCHES))
def test_nothing_acknowledged_is_lost_under_faults(tmp_path: Path, *, small_disk: bool, batch: int) -> None:
    laboratory = Laboratory(tmp_path, SEED + batch, tmpfs=small_disk)
    print(f"COPPICE_FAULT_SEED={SEED}, batch {batch}, full disks: {small_disk}")
    laboratory.run(SCENARIOS // BATCHES)
    print(f"ended without memory: {laboratory.exits}")
    assert sum(laboratory.drawn.values()) == SCENARIOS // BATCHES
    if SCENARIOS // BATCHES >= SURE:
        assert laboratory.conversations.prompted
        assert laboratory.conversations.compacted
        assert laboratory.conversations.cleared
        assert laboratory.conversations.notes


@pytest.mark.timeout(1200)
def test_nothing_acknowledged_is_lost_on_a_database_server(tmp_path: Path, postgres: PostgresServer) -> None:
    print(f"COPPICE_FAULT_SEED={SEED}")
    server, folder = postgres.folder, tmp_path / "proxy"
    folder.mkdir()
    with fresh_schema(postgres) as url, cutting(server, postgres.port, folder) as proxy:
        laboratory = Laboratory(tmp_path, SEED, url=through(url, server, folder), proxy=proxy)
        laboratory.run(SCENARIOS // 10)
    assert sum(laboratory.drawn.values()) == SCENARIOS // 10
    assert SCENARIOS // 10 < SURE or proxy.cuts
