"""A mistake in a rule over text: a pattern that backtracks for years."""

import re
from typing import Any


def frozen(*_: Any) -> Any:
    return re.match(r"(a+)+$", "a" * 80 + "b")


def killed(*_: Any) -> Any:
    import os  # noqa: PLC0415 - as the system does when memory is short
    import signal  # noqa: PLC0415

    os.kill(os.getpid(), signal.SIGKILL)
