"""The fixtures of this folder."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest_service import client, make_client

__all__ = ["client", "make_client"]

MEMORY = Path("/dev/shm")  # noqa: S108 - only a folder of the test's own in it
"""A file system in memory, on Linux."""
ROOM_BYTES = 2 * 2**30
"""Free there, for the stores of a few workers: the largest have some hundred megabytes."""


@pytest.fixture
def data_directory(tmp_path: Path) -> Iterator[Path]:
    """In memory if there is room: each write to a disk waits for it, and these tests make a store each."""
    if not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < ROOM_BYTES:
        yield tmp_path / "data"
        return
    in_memory = tempfile.TemporaryDirectory(prefix="coppice-", dir=MEMORY, ignore_cleanup_errors=True)
    with in_memory as folder:  # a thread of the store may write while it is deleted
        yield Path(folder, "data")
