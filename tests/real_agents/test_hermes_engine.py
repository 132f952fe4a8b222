"""Hermes' summaries are written by Coppice, and by Hermes where Coppice is gone."""

import json

import pytest
from real_agents.conftest import RealAgent
from real_agents.scripted_model import Answer, Asked

RULE = "Never change the file settings.ini."
SUMMARY = "The user asked for a list of numbers."
LONG = 'for i in $(seq 400); do echo "$i 0123456789 abcdefghijklmnopqrs"; done'


def _filled(agent: RealAgent) -> list[Asked]:
    """What was asked in a session whose window is full once."""
    calls: list[str] = []

    def script(asked: Asked) -> Answer:
        if not asked.tools:
            return Answer(SUMMARY)
        calls.append(asked.text)
        tokens = 60_000 if len(calls) == 8 else 1000
        return (
            Answer("I list.", tool="terminal", arguments={"command": LONG}, tokens=tokens)
            if len(calls) <= 8
            else Answer("Done.")
        )

    agent.model.script = script
    return agent.run(f"{RULE} List the numbers.")


def _summaries(asked: list[Asked]) -> list[str]:
    return [
        str(message["content"])
        for message in asked[-1].messages
        if "[CONTEXT COMPACTION" in str(message.get("content"))
    ]


@pytest.mark.parametrize("agent", ["hermes"], indirect=True)
def test_no_model_is_asked_for_the_summary(agent: RealAgent) -> None:
    agent.coppice("connect", "hermes")
    asked = _filled(agent)
    assert all(request.tools for request in asked), "the model was asked for a summary"
    (summary,) = _summaries(asked)
    assert RULE in summary
    assert "[#" not in summary, "a reference, which nothing in Hermes can be asked for"
    assert len(asked[-1].text) < max(len(request.text) for request in asked)
    assert "summary by Coppice: " in agent.status()["lastCompaction"]["text"]
    agent.coppice("sources", "--update")
    (conversation,) = json.loads(agent.coppice("list", "--json"))["conversations"]
    shown = agent.coppice("context", conversation["id"])
    assert RULE in shown
    agent.coppice("connect", "--remove", "hermes")
    assert not (agent.home / ".hermes" / "plugins" / "coppice").exists()


@pytest.mark.parametrize("agent", ["hermes"], indirect=True)
def test_hermes_writes_its_own_summary_when_coppice_is_gone(agent: RealAgent) -> None:
    agent.coppice("connect", "hermes")
    agent.break_coppice()
    asked = _filled(agent)
    (summary,) = _summaries(asked)
    assert SUMMARY in summary
    assert "FileNotFoundError" in agent.status()["failure"]["text"]
