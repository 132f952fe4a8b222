from collections.abc import Iterator

import pytest
from lsp.raw_client import RawServer
from preloaded import python


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawServer]:
    """A server that a module's tests share: each leaves it able to answer the next."""
    with RawServer(tmp_path_factory.mktemp("shared"), python=python()) as server:
        server.initialize()
        yield server


@pytest.fixture
def server(shared: RawServer) -> Iterator[RawServer]:
    yield shared
    assert shared.process.poll() is None
    assert "conversations" in shared.result("coppice/conversation/list")


@pytest.fixture
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawServer]:
    """A server of a test's own, not initialized yet."""
    with RawServer(tmp_path_factory.mktemp("fresh"), python=python()) as server:
        yield server
