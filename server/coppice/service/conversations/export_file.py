"""Writes an export to a file: whole or not at all, over nothing that nobody agreed to lose."""

import errno
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from coppice.errors import StorageFailedError
from coppice.operating_system import create_file

_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""What `link` fails with on file systems without hard links."""


def write_export(path: Path, lines: Iterable[str], *, overwrite: bool) -> None:
    """Writes `lines` to `path`, readable by its owner alone. A failure leaves `path` as it was.

    A link is never followed. An existing file is replaced only when `overwrite` is set, and something that
    is no regular file never. Raises StorageFailedError.
    """
    try:
        _refuse_existing(path, overwrite=overwrite)
        temporary = path.with_name(f".coppice-{secrets.token_hex(8)}.tmp")
        try:
            with os.fdopen(create_file(temporary), "w", encoding="utf-8", newline="\n") as file:
                file.writelines(lines)
            if overwrite:
                _refuse_existing(path, overwrite=True)
                temporary.replace(path)
            else:
                _put_in_place(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except FileExistsError:
        raise _exists(path) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file name"
        raise StorageFailedError(
            f"The export could not be written ({reason}). Choose a folder you may write to."
        ) from error


def _refuse_existing(path: Path, *, overwrite: bool) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kind = "a link" if stat.S_ISLNK(mode) else "no regular file"
        raise StorageFailedError(f"{path.name} is {kind}, which is never replaced. Choose another name.")
    if not overwrite:
        raise _exists(path)


def _put_in_place(temporary: Path, path: Path) -> None:
    """Gives the file its name. Raises FileExistsError when another file has it by now."""
    try:
        os.link(temporary, path, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.close(create_file(path))
        temporary.replace(path)


def _exists(path: Path) -> StorageFailedError:
    return StorageFailedError(
        f"{path.name} exists already. Choose another name, or ask for it to be replaced (`overwrite`)."
    )
