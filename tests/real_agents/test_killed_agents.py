"""An agent that is killed: its next run finds its history, and its configuration is whole."""

import json
import threading

import pytest
from real_agents.conftest import SECONDS, RealAgent
from real_agents.scripted_model import Answer, Asked
from real_agents.test_search import QUESTION, searching
from real_agents.test_three_compactions import FACT, LOST, OPTIONS, RULE, SUMMARY_REQUESTS, ThreeWindows
from waiting import wait_until

RESUME = {
    "claude-code": ("--continue",),
    "codex": ("resume", "--last"),
    "pi": ("--continue",),
    "opencode": ("--continue",),
    "copilot": ("--continue",),
    "gemini": ("--resume", "latest"),
}
CALLS_BEFORE = 2  # calls of a tool before the request in which it is killed


def _is_stored(agent: RealAgent, call: str) -> bool:
    """Whether a transcript has the call. Claude Code writes late; what it has not written is lost with it."""
    paths = (path for path in agent.home.rglob("*") if path.suffix == ".jsonl" or ".db" in path.name)
    return any(call.encode() in path.read_bytes() for path in paths)


def _killed(agent: RealAgent, moment: str) -> ThreeWindows:
    """The model of a session that ended in a turn, or while the summary was written."""
    model = ThreeWindows(agent, compactions=1)
    reached, dead = threading.Event(), threading.Event()

    def script(asked: Asked) -> Answer:
        is_summary = any(mark in asked.last for mark in SUMMARY_REQUESTS)
        if is_summary if moment == "compaction" else sum(model.windows) == CALLS_BEFORE:
            wait_until(lambda: _is_stored(agent, f"head -n 1400 # {sum(model.windows)}"))
            reached.set()
            dead.wait(SECONDS)
        return model(asked)

    agent.model.script = script
    agent.kill(reached, f"{RULE} {FACT} List the numbers.", *OPTIONS.get(agent.name, ()))
    dead.set()
    return model


def _check_history(agent: RealAgent) -> None:
    agent.coppice("sources", "--update")
    (conversation,) = json.loads(agent.coppice("list", "--json"))["conversations"]
    shown = agent.coppice("context", conversation["id"])
    assert RULE in shown
    assert shown.count("head -n 1400 # 1") == 1


@pytest.mark.parametrize("agent", ["claude-code", "codex"], indirect=True)
def test_the_next_run_finds_what_an_agent_did_before_it_was_killed_in_a_turn(agent: RealAgent) -> None:
    changes = agent.connect()
    _killed(agent, "turn")
    assert agent.now(changes) == changes.after
    _check_history(agent)
    searching(agent)
    asked = agent.run(QUESTION)
    assert any("48117" in request.text for request in asked), "\n".join(request.last for request in asked)


@pytest.mark.parametrize("agent", ["pi", "opencode", "copilot", "gemini"], indirect=True)
def test_a_session_that_was_killed_in_a_turn_goes_on_and_is_read_once(agent: RealAgent) -> None:
    changes = agent.connect()
    _killed(agent, "turn")
    assert agent.now(changes) == changes.after
    _check_history(agent)
    agent.model.script = lambda _: Answer("Done.")
    place = agent.arguments.index("-p") if "-p" in agent.arguments else len(agent.arguments)
    agent.arguments = (*agent.arguments[:place], *RESUME[agent.name], *agent.arguments[place:])
    asked = agent.run("Go on.")
    assert RULE in asked[0].text
    _check_history(agent)


@pytest.mark.parametrize("agent", ["claude-code", "codex"], indirect=True)
def test_a_session_that_was_killed_in_its_compaction_is_compacted_when_it_goes_on(agent: RealAgent) -> None:
    changes = agent.connect()
    model = _killed(agent, "compaction")
    assert agent.now(changes) == changes.after
    _check_history(agent)
    agent.model.script = model
    asked = agent.run("Go on.", *OPTIONS[agent.name], *RESUME[agent.name])
    assert len(model.windows) == 2, model.windows
    assert RULE in asked[-1].text.rpartition(LOST)[2]
