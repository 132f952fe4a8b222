"""Running a command: one event loop, one service, and every way to end."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

from coppice.cli.exits import CommandError, ExitCode
from coppice.cli.terminal import print_error, silence_stdout, warn, write_json
from coppice.errors import CoppiceError
from coppice.operating_system import on_signal
from coppice.service.core.settings_source import SettingsSource
from coppice.service.service import Service
from coppice.settings.layers import command_line_layer

_ADVICE: Final = {"unknown-entry": " `coppice tree SOURCE --mode all` shows the ids."}
_SIGNALLED: Final = 128  # added to a signal's number, as shells do


def run(work: Awaitable[ExitCode | None], *, as_json: bool = False) -> int:
    """The exit code of `work`. Whatever goes wrong in it ends as one sentence on standard error.

    With `as_json` standard output gets an object with the error, too, so that a program always finds one.
    """
    try:
        return asyncio.run(_stoppable(work)) or ExitCode.OK
    except BrokenPipeError:
        silence_stdout()
        return ExitCode.OK
    except CoppiceError as error:
        print_error(f"coppice: {error}{_ADVICE.get(error.code, '')}")
        if as_json:
            with contextlib.suppress(BrokenPipeError):
                write_json({"error": {"code": error.code, "message": str(error), "data": error.data}})
        return ExitCode.USAGE if error.code == "usage" else ExitCode.FAILED
    except Exception as error:  # noqa: BLE001 - a person gets a sentence; see `_unforeseen`
        print_error(f"coppice: {_unforeseen(error)}")
        return ExitCode.FAILED


async def _stoppable(work: Awaitable[ExitCode | None]) -> ExitCode | None:
    """Lets Ctrl-C and SIGTERM cancel `work`, which puts its things away; a second one ends it at once."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    stopped_by: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        stopped_by.append(number)
        if len(stopped_by) > 1 or task is None:
            _leave(number)
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        on_signal(loop, number, partial(stop, number))
    try:
        return await work
    except asyncio.CancelledError:
        if stopped_by:
            _leave(stopped_by[0])
        raise


def _leave(number: signal.Signals) -> NoReturn:
    """Ends the process without waiting for a thread that still computes what nobody wants any more."""
    with contextlib.suppress(OSError):
        print_error("coppice: interrupted; nothing was changed.")
    os._exit(_SIGNALLED + number)


def _unforeseen(error: Exception) -> str:
    if isinstance(error, OSError):
        about = f": {error.filename}" if error.filename else ""
        return f"{error.strerror or type(error).__name__}{about}."
    return f"an unforeseen error ({type(error).__name__}); please report it with the command you gave."


def workspace_uri(folder: Path | None) -> str:
    """The URI of `folder`, by default of the current one.

    Raises CommandError when there is no such folder.
    """
    chosen = (folder or Path.cwd()).absolute()
    if not chosen.is_dir():
        raise CommandError(f"There is no folder {chosen}; name the workspace's folder with --workspace.")
    return chosen.resolve().as_uri()


@contextlib.asynccontextmanager
async def serving(
    workspace: str,
    client_settings: Mapping[str, Any] | None = None,
    settings: SettingsSource | None = None,
) -> AsyncIterator[Service]:
    """A started service for one workspace; reports what is wrong with settings and stores."""
    source = settings or SettingsSource()
    source.client_layer = command_line_layer
    service = Service(settings=source)
    try:
        warn(await service.start([workspace], client_settings or {}))
        yield service
    finally:
        warn(list(service.stores.problems))
        await service.close()
