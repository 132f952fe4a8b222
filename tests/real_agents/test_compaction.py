"""Pi's summaries are written here."""

from itertools import pairwise

import pytest
from real_agents.conftest import RealAgent
from real_agents.scripted_model import Answer, Asked
from real_agents.test_three_compactions import CALLS, COMPACTIONS, FACT, FAILING, RULE, SPOILED

SUMMARY = "The user asked for a list of numbers."


def _seen(asked: Asked) -> str:
    """A request in a line: each message's role, length and beginning."""
    messages = [(each.get("role"), len(str(each)), str(each.get("content"))[:150]) for each in asked.messages]
    return f"{len(asked.text)} {messages[1:]}"


LONG = "yes '0123456789 abcdefghijklmnopqrs' | head -n 1500"


@pytest.mark.parametrize("agent", ["pi"], indirect=True)
def test_what_two_windows_had_is_in_the_third_summary_and_no_model_is_asked_for_one(agent: RealAgent) -> None:
    agent.coppice("connect", agent.name)
    windows = [0]
    """The calls of each window."""
    lengths: list[int] = []

    def script(asked: Asked) -> Answer:
        if lengths and len(asked.text) < lengths[-1]:
            windows.append(0)
        lengths.append(len(asked.text))
        if len(windows) > COMPACTIONS:
            return Answer("Done.")
        windows[-1] += 1
        # Long enough to be cut, and said to fill the window of 32,000 tokens.
        fails = len(windows) == 2 and windows[-1] == 2
        tokens = 25_000 if windows[-1] == CALLS else 1000
        return Answer(
            "I list.", tool="bash", arguments={"command": FAILING if fails else LONG}, tokens=tokens
        )

    agent.model.script = script
    asked = agent.run(f"{RULE} {FACT} List the numbers.")
    assert len(windows) == COMPACTIONS + 1, f"{windows}\n" + "\n".join(map(_seen, asked))
    assert all(request.tools for request in asked), "the model was asked for a summary"
    assert "summary by Coppice: " in agent.status()["lastCompaction"]["text"]
    shorter = [after for before, after in pairwise(asked) if len(after.text) < len(before.text)]
    assert all(RULE in request.text for request in shorter)
    for text in (RULE, FACT, FAILING):
        assert text in asked[-1].text.partition("<summary>")[2].partition("</summary>")[0]


@pytest.mark.parametrize(
    ("script", "logged"),
    [(None, "ENOENT"), (SPOILED["late"], "in time"), (SPOILED["crashing"], "SIGSEGV")],
    ids=["gone", *SPOILED],
)
@pytest.mark.parametrize("agent", ["pi"], indirect=True)
def test_the_agent_writes_its_own_summary_without_an_answer(
    agent: RealAgent, script: str | None, logged: str
) -> None:
    agent.coppice("connect", agent.name)
    agent.break_coppice() if script is None else agent.spoil_hooks(script, is_late=script == SPOILED["late"])
    calls: list[str] = []

    def answering(asked: Asked) -> Answer:
        calls.append(asked.text)
        if asked.tools and len(calls) <= 3:
            return Answer("I list.", tool="bash", arguments={"command": LONG}, tokens=8000 * len(calls))
        return Answer("Done." if asked.tools else SUMMARY)

    agent.model.script = answering
    asked = agent.run(f"{RULE} List the numbers.")
    assert SUMMARY in asked[-1].text
    assert logged in agent.status()["failure"]["text"]
