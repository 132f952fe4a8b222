"""A Unix socket that only its user can open. Not on Windows, where users connect with a secret."""

import contextlib
import os
import socket
import stat
import sys
from pathlib import Path
from typing import Final

from coppice.lsp.sockets import SocketError

if sys.platform == "win32":
    raise SocketError("There are no Unix sockets on Windows; use --tcp.")

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def open_unix(path: Path) -> socket.socket:
    """A listening socket at `path`, which nobody but this user can open.

    Its folder is made if it is missing. A socket on which nobody listens any more is replaced. Raises
    SocketError.
    """
    folder = path.parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        if status.st_uid != os.getuid() or status.st_mode & _OTHERS:
            raise SocketError(
                f"{folder} can be entered by other users; give --socket a path in a folder of your own with "
                "mode 0700, below $XDG_RUNTIME_DIR for instance."
            )
        if (above := _changeable_by_others(folder)) is not None:
            raise SocketError(
                f"{above} can be changed by other users, who could put a folder of theirs in place of "
                f"{folder}; give --socket a path below $XDG_RUNTIME_DIR for instance."
            )
        _remove_abandoned(path)
        return _listen_at(path)
    except OSError as error:
        raise SocketError(f"{path} cannot be opened: {error.strerror or error}.") from None


def _changeable_by_others(folder: Path) -> Path | None:
    """The nearest folder above in which others than this user and root may rename what is there, or None."""
    for above in folder.resolve().parents:
        status = above.stat()
        is_shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX
        if is_shared or status.st_uid not in (0, os.getuid()):
            return above
    return None


def _remove_abandoned(path: Path) -> None:
    """Raise SocketError where anything but an abandoned socket is at `path`."""
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise SocketError(f"{path} exists and is no socket; name another path.")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX) as other:
        try:
            other.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise SocketError(f"Another server listens on {path}; name another path.")


def _listen_at(path: Path) -> socket.socket:
    """The folder keeps others out until the socket has its mode."""
    listening = socket.socket(socket.AF_UNIX)
    with contextlib.ExitStack() as stack:
        stack.callback(listening.close)
        listening.bind(str(path))
        path.chmod(0o600)
        listening.listen()
        stack.pop_all()
    return listening
