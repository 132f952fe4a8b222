"""The process of `worker_process`: reads calls from standard input, and writes what they return."""

import os
import pickle
import signal
import sys
from typing import Final

from coppice.operating_system import end_with
from coppice.service.core.reopened_stores import close_stores

SIZE_BYTES: Final = 8  # before each call, its length: more than memory holds


def main(parent: int) -> None:
    """Carries out calls until the parent closes the pipe, or ends."""
    end_with(parent)
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


if __name__ == "__main__":
    main(int(sys.argv[1]))
