"""Sockets that only their user can open, and the secret that guards the ones every user can."""

import contextlib
import ipaddress
import os
import secrets
import socket
import stat
import sys
from pathlib import Path
from typing import Final

SECRET_BYTES: Final = 32
"""Of randomness; 16 could not be guessed either."""

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class SocketError(Exception):
    """The server cannot start. The message gives the reason and what to do."""


def open_unix(path: Path) -> socket.socket:
    """A listening socket at `path`, which nobody but this user can open.

    Its folder is made if it is missing. A socket on which nobody listens any more is replaced. Raises
    SocketError.
    """
    folder = path.parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
        if found.st_uid != os.getuid() or found.st_mode & _OTHERS:
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


def open_tcp(host: str, port: int) -> socket.socket:
    """A listening socket on a loopback address; port 0 picks a free one. Raises SocketError."""
    address = loopback_address(host, port)
    if address is None:
        raise SocketError(
            f"{host} is no loopback address. The server listens on 127.0.0.1, ::1 or localhost only; use an "
            "SSH tunnel to reach it from another machine."
        )
    try:
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        return socket.create_server(address, family=family)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SocketError(f"{host}:{port} cannot be opened: {reason}.") from None


def loopback_address(host: str, port: int) -> tuple[str, int] | None:
    """What to listen on for `host`, or None when that is not this machine's loopback."""
    literal = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        return (literal, port) if ipaddress.ip_address(literal).is_loopback else None
    except ValueError:
        return None


def hand_over_secret(file: Path | None) -> tuple[str, str]:
    """A new secret, and the line in which standard output gives it to whoever started the server.

    The line is empty where the secret was written to `file`, which must not exist and gets mode 0600. Raises
    SocketError, also where standard output is a file that others might read.
    """
    secret = secrets.token_urlsafe(SECRET_BYTES)
    if file is None:
        if stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode):
            raise SocketError(
                "standard output is a file, which is no place for the secret; give --secret-file."
            )
        return secret, f"\nSecret: {secret}"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(file, flags, 0o600), "w", encoding="ascii") as written:
            written.write(f"{secret}\n")
    except FileExistsError:
        raise SocketError(f"{file} exists already; name a new file for the secret.") from None
    except OSError as error:
        raise SocketError(f"{file} cannot be written: {error.strerror}.") from None
    return secret, ""


def _changeable_by_others(folder: Path) -> Path | None:
    """The nearest folder above in which others than this user and root may rename what is there, or None."""
    for above in folder.resolve().parents:
        found = above.stat()
        is_shared = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not found.st_mode & stat.S_ISVTX
        if is_shared or found.st_uid not in (0, os.getuid()):
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
