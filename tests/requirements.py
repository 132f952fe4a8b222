"""What a test needs that is not everywhere: it is skipped without it, or fails where CI requires it."""

import os
from typing import Final, Literal, NoReturn

import pytest

Need = Literal["shared", "postgres", "editors", "model", "agents"]

REQUIRED: Final = "COPPICE_TESTS_REQUIRE"
"""The environment variable that lists, separated by commas, the needs without which tests fail."""


def missing(need: Need, reason: str) -> NoReturn:
    """Skips the running test with `reason`, or fails it where `need` is required."""
    if need in os.environ.get(REQUIRED, "").split(","):
        pytest.fail(reason)
    pytest.skip(reason)
