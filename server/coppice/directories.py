"""Where Coppice's own files are. Imports little: hooks of agents start many times."""

import os
from pathlib import Path


def config_directory() -> Path:
    """The folder of the user's `settings.toml`; `COPPICE_CONFIG_DIRECTORY` names another one."""
    moved = os.environ.get("COPPICE_CONFIG_DIRECTORY")
    if moved:
        return Path(moved)
    import platformdirs  # noqa: PLC0415 - it costs 8 ms

    return platformdirs.user_config_path("coppice")
