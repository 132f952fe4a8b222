"""How a command ends: exit codes, and one sentence for whoever reads standard error."""

from enum import IntEnum

from coppice.errors import CoppiceError


class ExitCode(IntEnum):
    """How a command ended; 130 is 128 + SIGINT, as shells report it."""

    OK = 0
    FAILED = 1
    USAGE = 2
    INTERRUPTED = 130


EXIT_CODES = "Exit codes: 0 done, 1 it could not be done, 2 wrong usage, 130 interrupted, nothing changed."

COPY_EXIT_CODES = (
    "Exit codes: 0 the target has them all, 1 it lacks some, 2 wrong usage, 130 interrupted, some are copied."
)


class CommandError(CoppiceError):
    """What only a command line can run into. Unlike the service's errors it may name files."""

    code = "command-failed"


class UsageError(CommandError):
    """Arguments that do not go together."""

    code = "usage"
