"""What a compaction lost is before the model again after it."""

from itertools import pairwise

import pytest
from real_agents.conftest import RealAgent
from real_agents.scripted_model import Answer, Asked

RULE = "Never change the file settings.ini."
SUMMARY = "The user asked for a list of numbers."
FULL = 170_000
"""Tokens at which both agents compact."""

SUMMARY_REQUESTS = ("summary of the conversation", "CONTEXT CHECKPOINT")
COMPACTING = {
    "claude-code": ("--autocompact", "100000"),
    "codex": ("-c", "model_auto_compact_token_limit=100000", "--dangerously-bypass-hook-trust"),
}


def _seen(asked: Asked) -> str:
    """A request in a line: each message's role, length and beginning."""
    messages = [(each.get("role"), len(str(each)), str(each.get("content"))[:150]) for each in asked.messages]
    return f"{len(asked.text)} {messages[1:]}"


def _script(agent: RealAgent, seen: list[str]) -> None:
    """Two calls of a tool fill the window, then the model is asked for a summary, and ends."""
    names = {"claude-code": "Bash", "codex": "exec_command"}
    arguments = {"claude-code": {"command": "echo one"}, "codex": {"cmd": "echo one"}}

    def script(asked: Asked) -> Answer:
        tool = names[agent.name]
        if (
            tool not in asked.tools
            or "summary of the conversation" in asked.last
            or "CONTEXT CHECKPOINT" in asked.last
        ):
            seen.append("summary")
            return Answer(SUMMARY)
        if seen.count("call") < 3 and "summary" not in seen:
            seen.append("call")
            tokens = FULL if seen.count("call") > 1 else 1000
            return Answer("I list.", tool=tool, arguments=arguments[agent.name], tokens=tokens)
        seen.append("end")
        return Answer("Done.")

    agent.model.script = script


@pytest.mark.parametrize("agent", list(COMPACTING), indirect=True)
def test_a_rule_that_the_summary_lacks_is_in_the_next_request(agent: RealAgent) -> None:
    agent.coppice("connect", agent.name)
    seen: list[str] = []
    _script(agent, seen)
    asked = agent.run(f"{RULE} List the numbers twice.", *COMPACTING[agent.name])
    assert "summary" in seen, seen
    after = [request for request in asked if SUMMARY in request.text][-1]
    assert "because the summary may lack it" in after.text
    assert RULE in after.text.split("because the summary may lack it")[1]
    assert "answered" in agent.coppice("status")


LONG = "yes '0123456789 abcdefghijklmnopqrs' | head -n 1500"


@pytest.mark.parametrize("agent", ["pi"], indirect=True)
def test_the_summary_is_written_here_and_no_model_is_asked_for_it(agent: RealAgent) -> None:
    agent.coppice("connect", agent.name)
    calls: list[str] = []

    def script(asked: Asked) -> Answer:
        calls.append(asked.text)
        # Long enough to be cut, and said to fill the window of 32,000 tokens.
        if len(calls) <= 3:
            tokens = 25_000 if len(calls) == 3 else 1000
            return Answer("I list.", tool="bash", arguments={"command": LONG}, tokens=tokens)
        return Answer("Done.")

    agent.model.script = script
    asked = agent.run(f"{RULE} List the numbers.")
    assert all(request.tools for request in asked), "the model was asked for a summary"
    assert "answered" in agent.coppice("status")
    shorter = [after for before, after in pairwise(asked) if len(after.text) < len(before.text)]
    assert shorter, "\n".join(map(_seen, asked))
    assert all(RULE in request.text for request in shorter)


@pytest.mark.parametrize("agent", ["pi"], indirect=True)
def test_the_agent_writes_its_own_summary_when_coppice_is_gone(agent: RealAgent) -> None:
    agent.coppice("connect", agent.name)
    agent.break_coppice()
    calls: list[str] = []

    def script(asked: Asked) -> Answer:
        calls.append(asked.text)
        if asked.tools and len(calls) <= 3:
            return Answer("I list.", tool="bash", arguments={"command": LONG}, tokens=8000 * len(calls))
        return Answer("Done." if asked.tools else SUMMARY)

    agent.model.script = script
    asked = agent.run(f"{RULE} List the numbers.")
    assert SUMMARY in asked[-1].text
    assert "ENOENT" in agent.coppice("status")
