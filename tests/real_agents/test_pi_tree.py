"""Pi's summary of a branch that is left is written here, and by Pi where Coppice is gone."""

import json

import pytest
from real_agents.conftest import RealAgent
from real_agents.scripted_model import Answer, Asked

RULE = "Never change the file settings.ini."
SUMMARY = "The user asked for a list of numbers."
COMMAND = """
export default function (pi) {
  pi.registerCommand("back", {
    description: "to the first message, with a summary",
    handler: async (_words, ctx) => {
      const first = ctx.sessionManager.getEntries().find((entry) => entry.message?.role === "user");
      await ctx.navigateTree(first.id, { summarize: true });
    },
  });
}
"""


def _summary(agent: RealAgent) -> str:
    """That of the branch which a second session left."""
    extension = agent.home / ".pi" / "agent" / "extensions" / "back.ts"
    extension.parent.mkdir(parents=True, exist_ok=True)
    extension.write_text(COMMAND)

    def script(asked: Asked) -> Answer:
        return Answer("Listed." if asked.tools else SUMMARY)

    agent.model.script = script
    agent.run("List the numbers.")
    agent.run(f"{RULE} List more.", "--continue")
    agent.run("/back", "--continue")
    (file,) = (agent.home / ".pi" / "agent" / "sessions").rglob("*.jsonl")
    entries = [json.loads(line) for line in file.read_text().splitlines()]
    (summary,) = (entry["summary"] for entry in entries if entry["type"] == "branch_summary")
    return str(summary)


@pytest.mark.parametrize("agent", ["pi"], indirect=True)
def test_the_branch_that_was_left_is_summarized_here(agent: RealAgent) -> None:
    agent.coppice("connect", agent.name)
    summary = _summary(agent)
    assert RULE in summary
    assert SUMMARY not in summary
    assert agent.status()["lastBranchSummary"]["text"] == "summary by Coppice"


@pytest.mark.parametrize("agent", ["pi"], indirect=True)
def test_pi_summarizes_it_when_coppice_is_gone(agent: RealAgent) -> None:
    agent.coppice("connect", agent.name)
    agent.break_coppice()
    assert SUMMARY in _summary(agent)
