"""What a sub-agent did is a conversation of its own, next to that of the session."""

import json
from typing import Any

import pytest
from real_agents.conftest import RealAgent
from real_agents.scripted_model import Answer, Asked
from real_agents.test_three_compactions import TOOLS

PROMPT = "Delegate the search for the port."
TASK = "Look which port is used."
FINDING = "port-48117"
DELEGATING: dict[str, tuple[str, dict[str, Any]]] = {
    "copilot": (
        "task",
        {"agent_type": "general-purpose", "prompt": TASK, "description": "look", "name": "look"},
    ),
    "gemini": ("invoke_agent", {"agent_name": "generalist", "prompt": TASK}),
}
DONE = {"gemini": Answer("It is found.", tool="complete_task", arguments={"response": "It is found."})}


@pytest.mark.parametrize("agent", list(DELEGATING), indirect=True)
def test_a_sub_agent_is_a_conversation_of_its_own(agent: RealAgent) -> None:
    tool, argument = TOOLS[agent.name]
    delegate, task = DELEGATING[agent.name]

    def script(asked: Asked) -> Answer:
        if PROMPT not in asked.text and TASK in asked.text:
            if FINDING not in asked.text:
                return Answer("I look.", tool=tool, arguments={argument: f"echo {FINDING}"})
            return DONE.get(agent.name, Answer("It is found."))
        if asked.tools and TASK not in asked.text:
            return Answer("I delegate.", tool=delegate, arguments=task)
        return Answer("Done.")

    agent.model.script = script
    agent.run(PROMPT)
    agent.coppice("sources", "--update")
    conversations = json.loads(agent.coppice("list", "--json"))["conversations"]
    by_parent = {each.get("parentConversationId"): each["id"] for each in conversations}
    session = agent.coppice("context", by_parent[None])
    sub_agent = agent.coppice("context", by_parent[by_parent[None]])
    assert len(conversations) == 2
    assert PROMPT in session
    assert FINDING not in session
    assert TASK in sub_agent
    assert f"echo {FINDING}" in sub_agent
    assert PROMPT not in sub_agent
    agent.assert_understood()
