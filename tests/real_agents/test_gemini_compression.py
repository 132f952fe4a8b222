"""What a compression of Gemini's lost is put before the model again, once."""

import json

import pytest
from real_agents.conftest import RealAgent
from real_agents.scripted_model import Answer, Asked
from real_agents.test_three_compactions import CALLS, COMPACTIONS, FACT, FAILING, SPOILED

RULE = "Never change the file settings.ini."
SUMMARY = "<state_snapshot>The user asked for a list of numbers.</state_snapshot>"
ADDED = "This session was compacted."
FAILING_CHECK = "make test"
FULL = 900_000  # tokens: more than half of the model's window


@pytest.mark.parametrize("agent", ["gemini"], indirect=True)
def test_what_a_compression_lost_is_added_once(agent: RealAgent) -> None:
    agent.coppice("connect", agent.name)
    compressed: list[int] = []

    def listing(calls: int, tokens: int = 1000) -> Answer:
        return Answer(
            "I list.", tool="run_shell_command", arguments={"command": f"echo {calls}"}, tokens=tokens
        )

    def script(asked: Asked) -> Answer:
        if "state_snapshot" in asked.last and RULE not in asked.last:
            compressed.append(len(agent.model.asked))
            return Answer(SUMMARY)
        calls = len(agent.model.asked) - sum(1 for _ in compressed)
        if calls > 3:
            return Answer("Done.")
        return listing(calls, FULL if "Go on." in asked.text and not compressed else 1000)

    agent.model.script = script
    agent.run(f"{RULE} List the numbers.")
    once = agent.arguments
    agent.arguments = ("--resume", "latest", *once)
    asked = agent.run("Go on.")
    assert compressed, "nothing was compressed"
    (first,) = (request for request in asked if ADDED in request.last)
    assert RULE in first.last
    assert "tokens added to the summary (" in agent.status()["lastCompaction"]["text"]
    again = agent.run("And now?")
    assert not [request for request in again if ADDED in request.last]
    agent.coppice("sources", "--update")
    (conversation,) = json.loads(agent.coppice("list", "--json"))["conversations"]
    assert ADDED not in agent.coppice("context", conversation["id"])


@pytest.mark.parametrize("agent", ["gemini"], indirect=True)
def test_what_two_windows_had_is_before_gemini_after_the_third(agent: RealAgent) -> None:
    """Gemini compresses what is before a prompt: each prompt is a window, and the first fills none. A check
    that failed is open until it passes; another command until the next prompt only, and the tool finds it.
    """
    agent.coppice("connect", agent.name)
    windows: list[list[str]] = []
    compressed: list[int] = []

    def script(asked: Asked) -> Answer:
        if "state_snapshot" in asked.last and ADDED not in asked.last:
            compressed.append(len(windows))
            return Answer(SUMMARY)
        calls = windows[-1]
        if len(calls) >= CALLS:
            return Answer("Done.")
        failing = (FAILING, FAILING_CHECK) if len(windows) == 2 else ()
        command = next(iter(failing[len(calls) :]), f"echo {len(windows)} {len(calls)}")
        calls.append(command)
        if len(windows) > COMPACTIONS and len(calls) == CALLS:
            return Answer("I search.", tool="mcp_coppice_history_search", arguments={"query": FAILING})
        tokens = FULL if len(windows) > 1 and len(windows) not in compressed else 1000
        return Answer("I list.", tool="run_shell_command", arguments={"command": command}, tokens=tokens)

    agent.model.script = script
    once = agent.arguments
    asked: list[Asked] = []
    for _ in range(COMPACTIONS + 1):
        agent.arguments = ("--resume", "latest", *once) if windows else once
        prompt = "Go on." if windows else f"{RULE} {FACT} List the numbers."
        windows.append([])
        asked = agent.run(prompt)
    assert sorted(set(compressed)) == [2, 3, 4], compressed
    (added,) = (request.last for request in asked if ADDED in request.last)
    assert RULE in added
    assert FACT in added
    assert f"`{FAILING_CHECK}`" in added
    assert f"No rule to make target '{FAILING.split()[1]}'" in asked[-1].last
    agent.assert_understood()


@pytest.mark.parametrize("script", SPOILED.values(), ids=SPOILED)
@pytest.mark.parametrize("agent", ["gemini"], indirect=True)
def test_gemini_shows_a_hook_without_an_answer_and_goes_on(agent: RealAgent, script: str) -> None:
    agent.coppice("connect", agent.name)
    agent.spoil_hooks(script, is_late=script == SPOILED["late"])
    shell = {"command": "echo listed"}
    agent.model.script = lambda asked: (
        Answer("Done.") if "listed" in asked.last else Answer(tool="run_shell_command", arguments=shell)
    )
    asked = agent.run("List the numbers.")
    assert "listed" in asked[-1].last
    if "SEGV" in script:
        assert agent.shown.count("Coppice's hook was ended by signal 11") == 1
        assert "hook was ended by signal 11" in agent.status()["failure"]["text"]
    else:
        assert "Hook timed out" in agent.shown
