from collections.abc import Iterator

import pytest
from real_model.llama_server import LlamaServer, python_of_the_model, serving


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaServer]:
    """The model's server, one for the whole run: it needs seconds to start and half a gigabyte."""
    with serving(python_of_the_model(), tmp_path_factory.mktemp("llama") / "server.log") as server:
        yield server
