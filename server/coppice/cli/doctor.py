"""`coppice doctor`: is everything there that Coppice needs, and what to do where it is not."""

import asyncio
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final

from rich.text import Text

from coppice import __version__
from coppice.cli.checks import (
    Check,
    check_disk,
    check_folder,
    check_hooks,
    check_permissions,
    check_python,
    check_settings,
    check_stores,
    check_summarizers,
    check_tokenizer,
    repaired,
)
from coppice.cli.exits import ExitCode
from coppice.cli.plain import plain_line
from coppice.cli.running import workspace_uri
from coppice.cli.terminal import console, write_json
from coppice.service.core.settings_source import SettingsSource
from coppice.settings import Settings

_STYLES: Final = {"ok": "green", "warning": "yellow", "broken": "bold red"}


async def diagnose(workspace: Path | None, *, repair: bool, as_json: bool) -> ExitCode:
    """Check the installation, the settings and the stores, after a repair if one is asked for.

    FAILED where something is broken.
    """
    uri = workspace_uri(workspace)
    source = SettingsSource()
    settings, problems = source.explained(uri)
    checks = await asyncio.to_thread(repaired, settings) if repair else []
    checks += await asyncio.to_thread(lambda: list(_local_checks(uri, source, settings, problems)))
    checks += await check_summarizers(settings)
    broken = any(check.status == "broken" for check in checks)
    if as_json:
        write_json({"version": __version__, "ok": not broken, "checks": [asdict(c) for c in checks]})
    else:
        _show(checks)
    return ExitCode.FAILED if broken else ExitCode.OK


def _local_checks(
    uri: str, source: SettingsSource, settings: Settings, problems: list[str]
) -> Iterator[Check]:
    yield check_python()
    yield from check_settings(source.user_file, uri, problems)
    if settings.storage.url is None:
        yield check_folder(settings)
        yield check_permissions(settings)
        yield check_disk(settings)
    yield from check_stores(settings)
    yield check_tokenizer(settings)
    yield from check_hooks()


def _show(checks: list[Check]) -> None:
    out = console()
    for check in checks:
        status = (f"{check.status:7}", _STYLES[check.status])
        out.print(Text.assemble(status, f"  {check.name:11} ", plain_line(check.message)))
        if check.advice:
            out.print(f"{'':21}→ {plain_line(check.advice)}")
