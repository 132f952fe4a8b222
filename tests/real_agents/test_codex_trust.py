"""Codex's own word on our hook is what `coppice status` says of it."""

import json
import subprocess
from typing import Any

import pytest
from real_agents.conftest import SECONDS, RealAgent

ASKED = (
    {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "1"}}},
    {"method": "initialized"},
)


def hook_of(agent: RealAgent) -> dict[str, Any]:
    """What Codex lists of the one hook."""
    with subprocess.Popen(
        [agent.program, "app-server"],
        cwd=agent.project,
        env=agent.environ(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdin
        assert server.stdout
        asked = {"id": 2, "method": "hooks/list", "params": {"cwds": [str(agent.project)]}}
        server.stdin.writelines(f"{json.dumps(each)}\n" for each in (*ASKED, asked))
        server.stdin.flush()
        answer = next(each for each in map(json.loads, server.stdout) if each.get("id") == 2)
        server.terminate()
        server.wait(SECONDS)
    [hook] = answer["result"]["data"][0]["hooks"]
    return dict(hook)


@pytest.mark.parametrize("agent", ["codex"], indirect=True)
def test_the_status_says_of_the_hook_what_codex_says(agent: RealAgent) -> None:
    agent.coppice("connect", "codex")
    hook = hook_of(agent)
    assert hook["trustStatus"] == "untrusted"
    assert agent.status()["problems"]
    with (agent.home / ".codex" / "config.toml").open("a") as file:
        file.write(f'\n[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n')
    assert hook_of(agent)["trustStatus"] == "trusted"
    assert agent.status()["problems"] == []
