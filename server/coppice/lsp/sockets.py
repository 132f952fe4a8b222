"""Loopback sockets, which every user can open, and the secret that guards them."""

import ipaddress
import os
import secrets
import socket
import stat
import sys
from pathlib import Path
from typing import Final

from coppice.operating_system import create_file

SECRET_BYTES: Final = 32
"""Of randomness; 16 could not be guessed either."""


class SocketError(Exception):
    """The server cannot start. The message gives the reason and what to do."""


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
        with os.fdopen(create_file(file), "w", encoding="ascii") as written:
            written.write(f"{secret}\n")
    except FileExistsError:
        raise SocketError(f"{file} exists already; name a new file for the secret.") from None
    except OSError as error:
        raise SocketError(f"{file} cannot be written: {error.strerror}.") from None
    return secret, ""
