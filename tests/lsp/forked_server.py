"""A server that starts in a tenth of the time, and is killed like one that was started anew."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import preloaded
import psutil
from lsp.raw_client import ABSENT, RawServer


class ForkedServer(RawServer):
    """Forked from a process that has imported everything, unless another Python is named.

    `pid` is the server's own process from `initialize` on; `process` only ends as it ends.
    """

    def __init__(
        self,
        directory: Path,
        command: Sequence[str] = ("-m", "coppice.lsp"),
        *,
        python: Sequence[str] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._pid_file = directory / "pid"
        self._pid_file.unlink(missing_ok=True)
        super().__init__(
            directory,
            command,
            python=preloaded.python() if python is None else python,
            variables={**(variables or {}), preloaded.PID_FILE: str(self._pid_file)},
        )
        self.pid = self.process.pid
        self._own = psutil.Process(self.pid)

    def initialize(self, params: Any = ABSENT) -> dict[str, Any]:
        result = super().initialize(params)
        if self._pid_file.exists():
            self.pid = int(self._pid_file.read_text(encoding="ascii"))
            self._own = psutil.Process(self.pid)
        return result

    def kill(self) -> int:
        """Kills the server itself, where a kill of `process` would reach it a moment later; the exit code."""
        with suppress(psutil.NoSuchProcess):
            self._own.kill()
        return self.process.wait()

    def memory(self) -> int:
        """Bytes that the server has in memory, 0 once it has ended."""
        with suppress(psutil.NoSuchProcess):
            return self._own.memory_info().rss
        return 0
