"""Files that a command writes: never over something that nobody agreed to lose."""

from pathlib import Path

from coppice.cli.exits import CommandError
from coppice.cli.plain import plain_line
from coppice.cli.sources import STDIN
from coppice.formats.registry import EXPORT_NAMES, format_of_file_name
from coppice.protocol.conversations import ExportFormat


def check_output(output: Path, source: str, *, force: bool) -> None:
    """Raises CommandError where `output` may not be written, before any work is done for it."""
    file = output
    shown = plain_line(str(output), 200)
    if file.is_dir():
        raise CommandError(f"{shown} is a folder; name a file in it.")
    if not file.absolute().parent.is_dir():
        raise CommandError(f"There is no folder to write {shown} into; make it first.")
    if not file.exists():
        return
    origin = Path(source)
    if source != STDIN and origin.exists() and origin.samefile(file):
        raise CommandError(f"{shown} is the session itself, which is never written; choose another file.")
    if not force:
        raise CommandError(f"{shown} exists already; choose another name, or replace it with --force.")
    if not file.is_file():
        raise CommandError(f"{shown} is no regular file; leave the option away to write to standard output.")


def export_format(output: Path, source_format: str | None) -> ExportFormat:
    """The format that the file's name asks for; else the source's own, or Coppice's."""
    named = format_of_file_name(output.name)
    if named is not None:
        return named
    return source_format if source_format in EXPORT_NAMES else "coppice"
