"""An agent that was connected finds what was said in a session before, and disconnects without a trace."""

import pytest
from real_agents.conftest import RealAgent
from real_agents.scripted_model import Answer, Asked

DECISION = "Use port 48117: 8080 is taken by the proxy."
QUESTION = "Which port did we choose?"


def _search_tool(asked: Asked) -> str | None:
    return next((name for name in asked.tools if name.endswith("history_search")), None)


def searching(agent: RealAgent) -> None:
    """The model answers a question by a search of the history, once."""
    called: list[str] = []

    def script(asked: Asked) -> Answer:
        tool = _search_tool(asked)
        arguments = {"query": "port taken by the proxy", "scope": "project"}
        if QUESTION not in asked.text or "tool_search" in called or "search" in called:
            if called == ["tool_search"]:
                called.append("search")
                return Answer(tool="history_search", arguments=arguments, namespace="mcp__coppice")
            return Answer("It is in the history.")
        if agent.name == "codex" and tool is None:
            called.append("tool_search")
            return Answer(tool="tool_search", arguments={"query": "search the history", "limit": 5})
        if "tool_call" in asked.tools:  # OpenClaw
            called.append("search")
            call = {"id": "coppice__history_search", "args": arguments}
            return Answer(tool="tool_call", arguments=call)
        if tool is None:
            return Answer("There is no such tool.")
        called.append("search")
        namespace, _, name = tool.rpartition(".")
        return Answer(tool=name, arguments=arguments, namespace=namespace or None)

    agent.model.script = script


def test_a_connected_agent_finds_what_an_earlier_session_decided(agent: RealAgent) -> None:
    agent.run(DECISION)
    changes = agent.connect()
    searching(agent)
    asked = agent.run(QUESTION)
    assert any("48117" in request.text for request in asked), "\n".join(request.last for request in asked)
    status = agent.status()
    assert status["connected"]
    assert status["transcripts"] >= 2
    agent.assert_understood()
    agent.coppice("connect", "--remove", agent.name)
    assert agent.now(changes) == changes.before


def test_an_agent_goes_on_without_coppice(agent: RealAgent) -> None:
    agent.coppice("connect", agent.name)
    agent.break_coppice()
    searching(agent)
    asked = agent.run(QUESTION)
    assert not any("48117" in request.text for request in asked)


@pytest.mark.parametrize("agent", ["codex"], indirect=True)
def test_codex_reads_when_to_search_where_the_user_wants_it(agent: RealAgent) -> None:
    rule = "debugging an error that may have occurred before"
    agent.coppice("connect", "codex", "--agents-md", "--yes")
    assert rule in agent.run("Hello.")[0].text
    agent.coppice("connect", "--remove", "codex")
    assert rule not in agent.run("Hello.")[0].text
