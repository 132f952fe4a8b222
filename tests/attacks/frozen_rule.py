"""A mistake in a rule over text: a pattern that backtracks for years."""

import os
import re
from pathlib import Path
from typing import Any

BEGUN = "COPPICE_TEST_FROZEN"
"""The environment variable that names the file which `frozen` makes when it begins."""


def frozen(*_: Any) -> Any:
    if BEGUN in os.environ:
        Path(os.environ[BEGUN]).touch()
    return re.match(r"(a+)+$", "a" * 80 + "b")


def killed(*_: Any) -> Any:
    import signal  # noqa: PLC0415 - as the system does when memory is short

    os.kill(os.getpid(), signal.SIGKILL)


def process_id(*_: Any) -> str:
    return str(os.getpid())
