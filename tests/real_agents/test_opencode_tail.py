"""opencode keeps the last messages beside a summary: what they say is not added to it."""

import pytest
from real_agents.conftest import RealAgent
from real_agents.scripted_model import Answer, Asked
from real_agents.test_three_compactions import FAILING, FULL, LONG, LOST, RULE, SUMMARY, SUMMARY_REQUESTS


@pytest.mark.parametrize("agent", ["opencode"], indirect=True)
def test_what_opencode_keeps_is_not_repeated(agent: RealAgent) -> None:
    agent.coppice("connect", agent.name)

    def script(asked: Asked) -> Answer:
        if any(mark in asked.last for mark in SUMMARY_REQUESTS):
            return Answer(SUMMARY)
        if "bash" not in asked.tools:
            return Answer("Numbers")
        if LOST in asked.text:
            return Answer("Done.")
        if RULE in asked.last:
            return Answer("I list.", tool="bash", arguments={"command": LONG})
        return Answer("I deploy.", tool="bash", arguments={"command": FAILING}, tokens=FULL[agent.name])

    agent.model.script = script
    asked = agent.run(f"{RULE} List the numbers.")
    added, _, kept = asked[-1].text.partition(LOST)[2].partition("</history-session>")
    assert RULE in added
    assert FAILING in kept
    assert FAILING not in added
