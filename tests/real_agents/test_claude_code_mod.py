"""Claude Code's summaries are completed, or replaced, by a mod, and by hooks where mods are not loaded."""

import json
import shutil
from collections import Counter

import pytest
from real_agents.conftest import RealAgent
from real_agents.scripted_model import Answer, Asked
from real_agents.test_three_compactions import (
    CALLS,
    FACT,
    FULL,
    LONG,
    LOST,
    OPTIONS,
    RULE,
    SUMMARY,
    SUMMARY_REQUESTS,
    ThreeWindows,
)

AHEAD = "Write the summary in agreement"
REPLACING = """
[agents]
replaceSummaries = ["claude-code"]

[compaction]
keepRecentTokens = 500
"""

pytestmark = pytest.mark.parametrize("agent", ["claude-code"], indirect=True)


def _compacted(agent: RealAgent, compactions: int) -> tuple[list[Asked], list[Asked]]:
    """The requests for summaries, and the others."""
    model = ThreeWindows(agent, compactions)
    agent.model.script = model
    asked = agent.run(f"{RULE} {FACT} List the numbers.", *OPTIONS[agent.name])
    assert len(model.windows) == compactions + 1, model.windows
    summaries = [each for each in asked if any(mark in each.last for mark in SUMMARY_REQUESTS)]
    return summaries, [each for each in asked if each.tools and each not in summaries]


def _goes_on(agent: RealAgent, mark: str, last: Asked) -> None:
    """The session is resumed with what its last request had, and not with what was summarized."""
    agent.model.script = lambda _: Answer("Done.")
    asked = agent.run("Go on.", *OPTIONS[agent.name], "--continue")
    resumed = next(request for request in asked if request.tools)
    assert mark in resumed.text
    assert len(resumed.messages) <= len(last.messages) + 2, "a reply and a prompt"


def _kinds(agent: RealAgent) -> Counter[str]:
    """The types of the entries that Coppice stores of the session."""
    agent.coppice("sources", "--update")
    (conversation,) = json.loads(agent.coppice("list", "--json"))["conversations"]
    exported = agent.coppice("export", conversation["id"], "--format", "pi")
    return Counter(json.loads(line)["type"] for line in exported.splitlines())


def test_its_own_summary_is_completed_once(agent: RealAgent) -> None:
    agent.coppice("connect", agent.name)
    summaries, requests = _compacted(agent, 2)
    assert not any(AHEAD in request.text for request in summaries)
    assert {request.text.count(LOST) for request in requests} == {0, 1}
    last = requests[-1]
    summary = json.dumps(last.messages[0])
    assert SUMMARY in summary
    assert RULE in summary.partition(LOST)[2]
    replies = len(requests)
    kinds = _kinds(agent)
    assert kinds["compaction"] == 2
    assert kinds["message"] == 1 + replies + (replies - 1), (
        "a prompt, replies, and a result of each but the last"
    )


def test_a_session_that_is_resumed_goes_on_from_the_completed_summary(agent: RealAgent) -> None:
    agent.coppice("connect", agent.name)
    _, requests = _compacted(agent, 1)
    _goes_on(agent, LOST, requests[-1])


@pytest.mark.parametrize("is_loaded", [False, True], ids=["not loaded", "throws"])
def test_where_the_mod_does_not_work_the_hooks_add_it_once(agent: RealAgent, *, is_loaded: bool) -> None:
    agent.coppice("connect", agent.name)
    plugin = agent.home / ".claude" / "skills" / "coppice"
    if is_loaded:
        mod = plugin / "hooks" / "coppice.ts"
        mod.write_text(mod.read_text().replace("const ask =", 'throw new Error("spoiled");\n    const ask ='))
    else:
        shutil.rmtree(plugin)
    summaries, requests = _compacted(agent, 1)
    assert {request.text.count(AHEAD) for request in summaries} == {1}
    assert {request.text.count(LOST) for request in requests} == {0, 1}
    assert RULE in requests[-1].text.partition(LOST)[2]


def test_the_users_settings_have_its_summary_replaced(agent: RealAgent) -> None:
    (agent.home / "coppice").mkdir()
    (agent.home / "coppice" / "settings.toml").write_text(REPLACING)
    agent.coppice("connect", agent.name)
    calls: list[str] = []

    def script(asked: Asked) -> Answer:
        if "Bash" not in asked.tools:
            return Answer("Numbers")
        calls.append(asked.text)
        tokens = FULL[agent.name] if len(calls) == CALLS else 1000
        arguments = {"command": f"{LONG} # {len(calls)}"}
        return Answer("I list.", "Bash", arguments, tokens=tokens) if len(calls) <= CALLS else Answer("Done.")

    agent.model.script = script
    asked = agent.run(f"{RULE} {FACT} List the numbers.", *OPTIONS[agent.name])
    *before, after = calls
    assert not any(mark in call for call in calls for mark in SUMMARY_REQUESTS), "a summary was asked for"
    assert len(after) < len(before[-1])
    assert "which this summary replaces" in after
    assert RULE in after
    assert LOST not in after
    assert _kinds(agent)["compaction"] == 1
    _goes_on(agent, "which this summary replaces", asked[-1])
