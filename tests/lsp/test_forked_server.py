import signal
from pathlib import Path

import preloaded
import psutil
import pytest
from lsp.forked_server import ForkedServer


@pytest.mark.skipif(not preloaded.is_possible(), reason="no process can be forked from another one here")
def test_what_is_killed_is_the_server_itself(tmp_path: Path) -> None:
    with ForkedServer(tmp_path) as server:
        server.initialize()
        assert psutil.Process(server.pid).parent() != psutil.Process()
        assert server.kill() == -signal.SIGKILL
        assert not psutil.pid_exists(server.pid)
