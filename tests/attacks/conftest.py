"""The fixtures of this folder."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest_service import client, make_client

__all__ = ["client", "make_client"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 40 MB, where servers that are given `tmp_path` have their stores."""
    folder = tmp_path / "store"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40m", "coppice-test", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs the right to mount a file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
