"""A session of three compactions: what its first two windows had is before the model after the third."""

import re

import pytest
from real_agents.conftest import WINDOW, RealAgent
from real_agents.scripted_model import Answer, Asked

RULE = "Never change the file settings.ini."
FACT = "The service listens on port 48117 because 8080 is taken by the proxy."
FAILING = "make deploy-4711"
SUMMARY = "The user asked for a list of numbers. It is being made."
LOST = "<history-session>"
COMPACTIONS = 3
CALLS = 3  # calls of a tool in a window
MOST_CALLS = 12
"""Calls in the last window: Copilot writes to its transcript late, and the hook sees a compaction there."""
LONG = "yes '0123456789 abcdefghijklmnopqrs' | head -n 1400"

TOOLS = {
    "claude-code": ("Bash", "command"),
    "codex": ("exec_command", "cmd"),
    "copilot": ("bash", "command"),
    "gemini": ("run_shell_command", "command"),
    "opencode": ("bash", "command"),
    "pi": ("bash", "command"),
}
COMPLETED = ["claude-code", "codex", "copilot", "opencode"]
"""Gemini compacts between prompts only, and Pi's summaries are written here: each has a test of its own."""
SPOILED = {"late": "exec sleep 60", "crashing": "echo '{\"hookSpecificOutput\":'; kill -SEGV $$"}
SHOWING = {"claude-code": ("--output-format", "stream-json", "--verbose")}
"""Options with which the output has what a terminal shows of hooks."""
FULL = {"claude-code": 170_000, "codex": 170_000, "opencode": 31_000}
OPTIONS = {
    "claude-code": ("--autocompact", "100000"),
    "codex": ("-c", "model_auto_compact_token_limit=100000", "--dangerously-bypass-hook-trust"),
}
SUMMARY_REQUESTS = (
    "summary of the conversation",
    "CONTEXT CHECKPOINT",
    "create a detailed summary",
    "Here is the conversation so far",
)


class ThreeWindows:
    """The model of a session whose window is full some times; the second one has a failing command."""

    def __init__(
        self, agent: RealAgent, compactions: int = COMPACTIONS, most_calls: int = MOST_CALLS
    ) -> None:
        self.name = agent.name
        self.most_calls = most_calls
        self.compactions = compactions
        self.windows = [0]
        """The calls of each window."""

    def __call__(self, asked: Asked) -> Answer:
        tool, argument = TOOLS[self.name]
        if any(mark in asked.last for mark in SUMMARY_REQUESTS):
            return self._summary()
        if tool not in asked.tools:
            return Answer("Numbers")
        is_last = len(self.windows) > self.compactions
        if is_last and self.windows[-1] >= (CALLS if LOST in asked.text else self.most_calls):
            return Answer("Done.")
        self.windows[-1] += 1
        number = sum(self.windows)
        fails = len(self.windows) == 2 and self.windows[-1] == 2
        command = FAILING if fails else f"{LONG} # {number}"
        tokens = FULL.get(self.name, WINDOW * 4 // 5) if self.windows[-1] >= CALLS and not is_last else 1000
        return Answer("I list.", tool=tool, arguments={argument: command}, tokens=tokens)

    def _summary(self) -> Answer:
        if self.windows[-1]:
            self.windows.append(0)
        return Answer(SUMMARY)


@pytest.mark.parametrize("agent", COMPLETED, indirect=True)
def test_what_two_windows_had_is_before_the_model_after_the_third(agent: RealAgent) -> None:
    agent.coppice("connect", agent.name)
    script = ThreeWindows(agent)
    agent.model.script = script
    asked = agent.run(f"{RULE} {FACT} List the numbers.", *OPTIONS.get(agent.name, ()))
    assert len(script.windows) == COMPACTIONS + 1, script.windows
    last = asked[-1].text
    assert RULE in last
    assert FACT in last
    assert FAILING in last.rpartition(LOST)[2]
    agent.assert_understood()
    assert "tokens added to the summary (" in agent.status()["lastCompaction"]["text"]


@pytest.mark.parametrize("script", SPOILED.values(), ids=SPOILED)
@pytest.mark.parametrize("agent", COMPLETED, indirect=True)
def test_an_agent_goes_on_whatever_the_hook_does(agent: RealAgent, script: str) -> None:
    agent.coppice("connect", agent.name)
    agent.spoil_hooks(script, is_late=script == SPOILED["late"])
    model = ThreeWindows(agent, compactions=1, most_calls=CALLS)
    agent.model.script = model
    asked = agent.run(
        f"{RULE} {FACT} List the numbers.", *OPTIONS.get(agent.name, ()), *SHOWING.get(agent.name, ())
    )
    assert len(model.windows) == 2, model.windows
    assert SUMMARY in asked[-1].text
    assert LOST not in asked[-1].text
    if agent.name == "opencode":
        assert re.search("in time|SIGSEGV", agent.status()["failure"]["text"])
    elif "SEGV" in script:
        assert "hook was ended by signal 11" in agent.status()["failure"]["text"]
        # Codex shows it in its terminal only.
        assert agent.name == "codex" or "Coppice's hook was ended by signal 11" in agent.shown
