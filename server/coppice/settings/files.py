"""Reading a settings file. The one of a checkout is not trusted: it may be anything."""

import tomllib
from pathlib import Path
from typing import Any, Final

from coppice.regular_file import read_regular_file

WORKSPACE_FILE: Final = ".coppice/settings.toml"
USER_FILE: Final = "settings.toml"

MAX_BYTES: Final = 64 * 1024
"""Of a settings file. Prompts are the longest settings, and have a few thousand characters each."""

_MAX_DOTS: Final = 1_000
"""In one line; the squares of all lines may add up to this one's. `tomllib` takes time with the square of a
key's dots: 8 ms for this many, 13 s for 32,000."""


def read_user_file(file: Path) -> tuple[dict[str, Any], list[str]]:
    """The values of the user's own file, which may be a link; and a sentence for each problem."""
    return _read(file, follow_link=True)


def read_workspace_file(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """The values of a checkout's file; and a sentence for each problem. No link is followed."""
    file = folder / WORKSPACE_FILE
    try:
        if file.parent.is_symlink():
            return {}, [_unread(file, "its folder is a link")]
    except OSError as error:  # a name that is too long, for instance
        return {}, [_unread(file, error.strerror or "its folder cannot be read")]
    return _read(file, follow_link=False)


def parsed_toml(text: str) -> dict[str, Any]:
    """The values of a text that may be anything. Raises ValueError, whose text is the reason."""
    if sum(line.count(".") ** 2 for line in text.splitlines()) > _MAX_DOTS**2:
        raise ValueError(f"a line has more than {_MAX_DOTS:,} dots, or many have hundreds")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except Exception as error:  # the parser documents no others, but has them
        raise ValueError(f"it is no valid TOML: {type(error).__name__}") from error


def _read(file: Path, *, follow_link: bool) -> tuple[dict[str, Any], list[str]]:
    try:
        return parsed_toml(read_regular_file(file, MAX_BYTES, follow_link=follow_link).decode("utf-8")), []
    except (FileNotFoundError, NotADirectoryError):
        return {}, []
    except OSError as error:
        return {}, [_unread(file, error.strerror or "it cannot be opened")]
    except UnicodeDecodeError:
        return {}, [_unread(file, "it is not UTF-8")]
    except ValueError as error:
        return {}, [_unread(file, str(error))]


def _unread(file: Path, reason: str) -> str:
    return f"{file.name}: the settings file could not be read ({reason}); it was ignored."
