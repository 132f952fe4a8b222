"""How a command ends: exit codes, and one sentence for whoever reads standard error."""

from enum import IntEnum

from coppice.errors import CoppiceError


class ExitCode(IntEnum):
    OK = 0
    FAILED = 1
    USAGE = 2
    INTERRUPTED = 130


EXIT_CODES = "Exit codes: 0 done, 1 it could not be done, 2 wrong usage, 130 interrupted, nothing changed."

COPY_EXIT_CODES = (
    "Exit codes: 0 the target has them all, 1 it lacks some, 2 wrong usage, 130 interrupted, some are copied."
)

SERVE_EXIT_CODES = (
    "Exit codes: 0 the client said shutdown, 1 it went away without, 2 the server could not begin."
)


class CommandError(CoppiceError):
    """What only a command line can run into. Unlike the service's errors it may name files."""

    code = "command-failed"


class UsageError(CommandError):
    """Arguments that do not go together."""

    code = "usage"
