"""What differs between operating systems: how files are opened, which signals end a process, who runs.

The place of every difference that the server needs. On Windows a mode has no effect: what keeps other users
out of a file is its folder, which is in the user's profile.
"""

import asyncio
import errno
import faulthandler
import os
import signal
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

if sys.platform == "win32":
    import msvcrt

    _BINARY: Final = os.O_BINARY
    _AT_ONCE: Final = 0
else:
    _BINARY: Final = 0
    _AT_ONCE: Final = os.O_NONBLOCK


_M_ARENA_MAX: Final = -8  # of the GNU C library's <malloc.h>
_PR_SET_PDEATHSIG: Final = 1  # of Linux's <linux/prctl.h>

FILES_HAVE_ONE_CASE: Final = sys.platform in ("win32", "darwin")
"""Whether names of files that differ in case alone usually name the same file, as Git assumes there."""


ENCODING_OF_PIPES: Final = "utf-8" if sys.platform == "win32" else None
"""How text is written to programs and files; None is as the system says. Windows' lacks most characters."""


def create_file(path: Path) -> int:
    """A descriptor of a new file for its user alone, to read and write. Raises FileExistsError where the name
    is taken.
    """
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)


def open_to_read(path: Path, *, follow_link: bool) -> int:
    """A descriptor that reads `path` and does not wait, whatever it is.

    Raises OSError, also where the last part of the path is a link and none is followed.
    """
    if sys.platform == "win32":
        attributes = path.lstat().st_file_attributes
        if not follow_link and attributes & stat.FILE_ATTRIBUTE_REPARSE_POINT:
            raise OSError(0, "it is a link")
        return os.open(path, os.O_RDONLY | _BINARY)
    return os.open(path, os.O_RDONLY | _AT_ONCE | (0 if follow_link else os.O_NOFOLLOW))


def open_without_waiting(path: str, flags: int) -> int:
    """An opener for `open` that waits for no writer at the other end of a pipe.

    Raises OSError, for a folder IsADirectoryError also on Windows, which says that permission lacks.
    """
    try:
        return os.open(path, flags | _AT_ONCE)
    except PermissionError:
        if Path(path).is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path) from None
        raise


def use_as_stream(descriptor: int) -> None:
    """Has reads and writes of the descriptor wait, and change no line ends."""
    if sys.platform == "win32":
        msvcrt.setmode(descriptor, _BINARY)
    else:
        os.set_blocking(descriptor, True)


def open_lock_file(path: Path) -> int:
    """A descriptor of a file for `lock_in_turn`, which is made where there is none. Raises OSError."""
    if sys.platform == "win32":
        raise OSError(0, "locks have no order on Windows")
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


def lock_in_turn(descriptor: int, *, wait: bool) -> bool:
    """Locks a file for the descriptor until it is closed, of those that wait the first one first.

    False where it is locked, and with `wait` never. Raises OSError where there are no such locks.
    """
    if sys.platform == "win32":
        raise OSError(0, "locks have no order on Windows")
    import fcntl  # noqa: PLC0415 - on POSIX alone

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_locked_by_descriptors() -> bool:
    """Whether a process loses its locks on a file when it closes any descriptor of it, as POSIX has it."""
    return sys.platform != "win32"


def renames_open_files() -> bool:
    """Whether a file that a process has open can have another name."""
    return sys.platform != "win32"


def starts_scripts() -> bool:
    """Whether a file that begins with `#!` is a program to every shell. On Windows it is so to Git's bash."""
    return sys.platform != "win32"


def is_open_to_write(descriptor: int) -> bool:
    """Whether the descriptor is open to read and to write. Raises OSError where there is none."""
    if sys.platform == "win32":
        raise OSError(0, "not to be had on Windows")
    import fcntl  # noqa: PLC0415 - on POSIX alone

    return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR


def on_signal(loop: asyncio.AbstractEventLoop, number: signal.Signals, work: Callable[[], None]) -> None:
    """Has the loop call `work` for a signal, in place of what the signal does."""
    if sys.platform == "win32":
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(work))
    else:
        loop.add_signal_handler(number, work)


def use_one_heap() -> None:
    """Have the C library keep one heap for all threads, where it is the GNU one.

    Otherwise threads that allocate at once get heaps of their own, eight a processor, and what is freed in
    one is of no use to the others. To be called before there are threads.
    """
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - for servers

        with suppress(OSError, AttributeError):  # musl has none
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def end_with(parent: int) -> None:
    """Has the system end this process with its parent, also while it computes. On Linux alone."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - for their worker processes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def write_stacks_on_timer() -> None:
    """Has the end of `set_processor_timer` write the stacks of all threads to standard error."""
    if sys.platform != "win32":
        faulthandler.register(signal.SIGPROF, file=2, chain=True)


def set_processor_timer(seconds: float) -> None:
    """Ends this process after so much time of its processor; 0 takes that back. Windows has no such timer."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def is_running(pid: int) -> bool:
    """Whether a process of this number runs, whoever's it is."""
    import psutil  # noqa: PLC0415 - asked rarely

    try:
        return psutil.pid_exists(pid)
    except OverflowError:  # more than a number of a process; nothing is known of it
        return True
