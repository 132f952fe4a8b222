"""The clients in docs/examples talk to a real server, and to a model on loopback."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp.raw_client import environment
from models.provider_server import Exchange, ProviderServer, serving

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


async def answered(exchange: Exchange) -> None:
    text = f"Answer {len(exchange.request.body['messages'])}."
    await exchange.head(kind="application/json")
    await exchange.send(json.dumps({"choices": [{"message": {"content": text}}]}).encode())
    await exchange.end()


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with serving([answered]) as server:
        yield server


def talk(directory: Path, provider: ProviderServer, *lines: str) -> Any:
    (directory / "work").mkdir()
    return subprocess.run(
        [sys.executable, EXAMPLES / "chat.py"],
        cwd=directory / "work",
        input="".join(f"{line}\n" for line in lines),
        env=environment(directory)
        | {"MODEL_URL": provider.url, "MODEL_NAME": "m", "MODEL_KEY": "k"}
        | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )


def test_the_example_in_python_chats(tmp_path: Path, provider: ProviderServer) -> None:
    ended = talk(tmp_path, provider, "Plant an oak.", "And a beech.")
    assert ended.stdout.splitlines() == ["Answer 1.", "Answer 3."]
    assert ended.stderr == ""
    contents = [message["content"] for message in provider.requests[-1].body["messages"]]
    assert contents == ["Plant an oak.", "Answer 1.", "And a beech."]


def test_the_example_in_python_compacts(tmp_path: Path, provider: ProviderServer) -> None:
    long = "Plant an oak by the gate, and water it every day of the first summer. " * 60
    settings = tmp_path / "config" / "settings.toml"
    settings.parent.mkdir()
    settings.write_text("model.contextWindow = 6000\ncompaction.keepRecentTokens = 1000\n")
    ended = talk(tmp_path, provider, *[f"{number} {long}" for number in range(8)])
    assert len(ended.stdout.splitlines()) == 8
    assert "[Compacting " in ended.stderr
    assert any("has been replaced" in str(asked.body["messages"][0]) for asked in provider.requests)
