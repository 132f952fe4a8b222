"""The command that the history tools print goes on with the session in its agent."""

import re

from mcp_server.conftest import Client
from real_agents.conftest import COPPICE, SESSION, RealAgent
from real_agents.scripted_model import Answer

DECISION = "Use port 48117: 8080 is taken by the proxy."
BEFORE_PROMPT = ("-p", "-q", "--message")
"""Options whose value is the prompt."""
QUESTION = "And which one is for the tests?"


def test_the_printed_command_resumes_the_session(agent: RealAgent) -> None:
    agent.model.script = lambda _asked: Answer("It is noted.")
    agent.run(DECISION)
    agent.coppice("sources", "--update")  # which the first call of the server waits five seconds for
    client = Client(agent.project, [str(COPPICE), "mcp"], agent.environ())
    overview = client.call("history_overview")
    client.close()
    printed = re.search(r'resume="\S+ ([^"]+)"', overview)
    assert printed is not None, overview
    assert not any("48117" in asked.text for asked in agent.run(QUESTION)), "a new session has it"
    typed = [word for word in printed[1].split() if word != "…"]
    if SESSION in agent.arguments:
        session = typed[typed.index("--session-id") + 1]
        agent.arguments = tuple(session if each == SESSION else each for each in agent.arguments)
    # The words that a person types, among those without which the agent asks the person.
    words = [word for word in typed if word not in agent.arguments]
    end = len(agent.arguments) - (agent.arguments[-1] in BEFORE_PROMPT)
    agent.arguments = (*agent.arguments[:end], *words, *agent.arguments[end:])
    assert any("48117" in asked.text for asked in agent.run(QUESTION)), agent.shown
