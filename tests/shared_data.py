"""The recorded sessions next to the checkout, for the tests that need them."""

from pathlib import Path

from requirements import missing

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"


def shared_data() -> Path:
    """The folder of recorded sessions; skips or fails the test where it is absent."""
    if not FOLDER.is_dir():
        missing("shared", "needs the recorded sessions of ../shared/data, not part of the repository")
    return FOLDER
