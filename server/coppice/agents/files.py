"""Reading and writing configuration files: through links, whole, with the rights that they had."""

import os
import tempfile
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Final

from coppice.agents.jsonc import ConfigurationError
from coppice.regular_file import read_regular_file

MAX_BYTES: Final = 16 * 2**20
"""Of a configuration file. Claude Code keeps the state of every project in one."""


def read(path: Path) -> str | None:
    """The text of a file, None where there is none.

    Raises ConfigurationError where it cannot be read, is no regular file or has more than `MAX_BYTES`.
    """
    try:
        return read_regular_file(path, MAX_BYTES, follow_link=True).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not UTF-8.") from error
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read ({error.strerror}).") from error


def write(path: Path, text: str, *, before_replacing: Callable[[], None] | None = None) -> None:
    """Replaces a file, or makes it for its owner alone, who may run a script.

    What `before_replacing` raises leaves the file as it is. Raises ConfigurationError where writing fails.
    """
    target = path.resolve()
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = 0o700 if text.startswith("#!") else 0o600
        mode = target.stat().st_mode & 0o7777 if target.exists() else new
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8"))
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(mode)
            if before_replacing is not None:
                before_replacing()
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written ({error.strerror}).") from error


def digest(text: str) -> str:
    """Tells texts apart."""
    return blake2b(text.encode("utf-8"), digest_size=16).hexdigest()
