"""The files that a real agent changed on disk are those that its transcript is read to have changed."""

import json
from pathlib import Path
from typing import Any

import pytest
from real_agents.conftest import RealAgent
from real_agents.scripted_model import Answer, Asked

from coppice.files.ledger import FileLedger
from coppice.formats.reading import open_session
from coppice.tree.entries import MessageEntry
from coppice.tree.messages import AssistantMessage, ToolCall, ToolResultMessage

OPTIONS = {
    "claude-code": ("--permission-mode", "acceptEdits"),
    "codex": ("-c", 'sandbox_mode="danger-full-access"'),
}
Call = tuple[str, dict[str, Any]]


def _calls(agent: RealAgent) -> list[Call]:
    """Two files are made, one of them is changed, and a change of a third is refused."""
    one, two, three = (str(agent.project / name) for name in ("one.txt", "two.txt", "three.txt"))
    match agent.name:
        case "claude-code":
            return [
                ("Write", {"file_path": one, "content": "first\n"}),
                ("Write", {"file_path": two, "content": "first\n"}),
                ("Edit", {"file_path": one, "old_string": "first", "new_string": "second"}),
                ("Read", {"file_path": three}),
                ("Edit", {"file_path": three, "old_string": "absent", "new_string": "new"}),
            ]
        case "codex":
            return [
                _patch("*** Add File: one.txt\n+first\n*** Add File: two.txt\n+first\n"),
                _patch("*** Update File: one.txt\n@@\n-first\n+second\n"),
                _patch("*** Update File: three.txt\n@@\n-absent\n+new\n"),
            ]
        case "pi":
            return [
                ("write", {"path": one, "content": "first\n"}),
                ("write", {"path": two, "content": "first\n"}),
                ("edit", {"path": one, "edits": [{"oldText": "first", "newText": "second"}]}),
                ("edit", {"path": three, "edits": [{"oldText": "absent", "newText": "new"}]}),
            ]
        case _:
            return [
                ("write", {"filePath": one, "content": "first\n"}),
                ("write", {"filePath": two, "content": "first\n"}),
                ("edit", {"filePath": one, "oldString": "first", "newString": "second"}),
                ("read", {"filePath": three}),
                ("edit", {"filePath": three, "oldString": "absent", "newString": "new"}),
            ]


def _patch(body: str) -> Call:
    command = f"apply_patch <<'EOF'\n*** Begin Patch\n{body}*** End Patch\nEOF"
    return "exec_command", {"cmd": command}


@pytest.mark.parametrize("agent", ["claude-code", "codex", "pi", "opencode"], indirect=True)
def test_the_files_that_changed_are_those_that_are_stated(agent: RealAgent) -> None:
    third = agent.project / "three.txt"
    third.write_text("old\n")
    calls = iter(_calls(agent))

    def script(asked: Asked) -> Answer:
        call = next(calls, None) if asked.tools else None
        return Answer("Done.") if call is None else Answer(tool=call[0], arguments=call[1])

    agent.model.script = script
    agent.run("Write the files.", *OPTIONS.get(agent.name, ()))
    assert next(calls, None) is None
    on_disk = {path.name: path.read_text() for path in agent.project.glob("*.txt")}
    assert on_disk == {"one.txt": "second\n", "two.txt": "first\n", "three.txt": "old\n"}

    agent.coppice("sources", "--update")
    (conversation,) = json.loads(agent.coppice("list", "--json"))["conversations"]
    exported = Path(agent.home, "exported.jsonl")
    exported.write_text(agent.coppice("export", conversation["id"], "--format", "pi"))
    entries = [*open_session(exported)]
    ledger = FileLedger(root=str(agent.project)).add(entries)
    assert set(ledger.modified_files) == {"one.txt", "two.txt"}
    messages = [entry.message for entry in entries if isinstance(entry, MessageEntry)]
    replies = [message for message in messages if isinstance(message, AssistantMessage)]
    called = [part.id for each in replies for part in each.content if isinstance(part, ToolCall)]
    assert called == [each.tool_call_id for each in messages if isinstance(each, ToolResultMessage)]
