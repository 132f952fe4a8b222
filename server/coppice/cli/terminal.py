"""Standard output and standard error, for people and for programs."""

import os
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.text import Text

from coppice import operating_system
from coppice.cli.plain import json_text, plain_line


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Left to whoever runs the command; rich would end the process."""
        raise BrokenPipeError


def prepare_streams() -> None:
    """A character that the encoding lacks is replaced, never an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            encoding = None if stream.isatty() else operating_system.ENCODING_OF_PIPES
            reconfigure(encoding=encoding, errors="replace")


def console(*, stderr: bool = False) -> Console:
    """A console that takes text as it is: no markup, no emoji names, no guesses at what to colour.

    Into a pipe, lines stay whole.
    """
    made = _Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    made.soft_wrap = not made.is_terminal
    return made


def print_row(out: Console, row: Text) -> None:
    """A row of a listing: cut off at the edge of a terminal, whole in a pipe."""
    if out.is_terminal:
        out.print(row, no_wrap=True, overflow="ellipsis")
    else:
        out.print(row)


def print_error(message: str) -> None:
    """A sentence on standard error."""
    sys.stderr.write(f"{plain_line(message)}\n")
    sys.stderr.flush()


def warn(messages: Iterable[str]) -> None:
    """One line on standard error for each message."""
    for message in messages:
        print_error(f"coppice: warning: {message}")


def write_text(text: str) -> None:
    """Text and a line end on standard output, exactly so: `Console` would make spaces of tabs."""
    sys.stdout.write(f"{text}\n")


def write_json(value: Any) -> None:
    """One JSON value on standard output, as `json_text` has it, in UTF-8 whatever the terminal's encoding."""
    write_bytes(f"{json_text(value)}\n".encode())


def write_bytes(data: bytes) -> None:
    """Bytes on standard output, after what was printed before."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def silence_stdout() -> None:
    """Nobody reads standard output any more; what the interpreter still flushes at its end goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
