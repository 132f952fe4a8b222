"""Where Coppice's own files are. Imports little: hooks of agents start many times."""

import os
from pathlib import Path

import platformdirs


def config_directory() -> Path:
    """The folder of the user's `settings.toml`; `COPPICE_CONFIG_DIRECTORY` names another one."""
    moved = os.environ.get("COPPICE_CONFIG_DIRECTORY")
    return Path(moved) if moved else platformdirs.user_config_path("coppice")
