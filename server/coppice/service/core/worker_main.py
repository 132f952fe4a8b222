"""The process of `worker_process`: reads calls from standard input, and writes what they return."""

import ctypes
import os
import pickle
import signal
import sys
from typing import Final

from coppice.service.core.reopened_stores import close_stores

SIZE_BYTES: Final = 8  # before each call, its length: more than memory holds
_PR_SET_PDEATHSIG: Final = 1  # of Linux's <linux/prctl.h>


def main(parent: int) -> None:
    """Carries out calls until the parent closes the pipe, or ends."""
    _end_with(parent)
    # A terminal sends Ctrl-C to every process; what it ends is for the parent to decide.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    received, sent = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while size := received.read(SIZE_BYTES):
        sent.write(_answer(received.read(int.from_bytes(size))))
        sent.flush()
        close_stores()


def _answer(call: bytes) -> bytes:
    """What was raised, or None, and the result; pickled."""
    try:
        function, args, kwargs = pickle.loads(call)  # noqa: S301 - the parent wrote it
        return pickle.dumps((None, function(*args, **kwargs)))
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent raises it
        error.__cause__ = error.__context__ = None
        try:
            return pickle.dumps((error, None))
        except Exception:  # noqa: BLE001 - nothing is known of it
            return pickle.dumps((RuntimeError(type(error).__name__), None))


def _end_with(parent: int) -> None:
    """Has the system end this process with its parent, also while it computes. On Linux alone."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]))
