"""The real sessions that lie beside the checkout, for the tests that need them."""

import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"


def shared_data() -> Path:
    """The folder of real sessions; skips the test where it is not there, and fails it in CI."""
    if FOLDER.is_dir():
        return FOLDER
    reason = "needs the real sessions of ../shared/data, which lie beside the developers' checkout"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
