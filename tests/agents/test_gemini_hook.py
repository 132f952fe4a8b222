"""Gemini CLI's compressions: answered at the next event, once, also where a resumed session repeats them."""

import json
from pathlib import Path

import pytest
from session_samples import TIME, Json

from coppice.agents.completing import NotCompactedError
from coppice.agents.events import answer_to

RULE = "Never change the file settings.ini."


@pytest.fixture(autouse=True)
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPPICE_CONFIG_DIRECTORY", str(tmp_path / "config"))


def prompt(entry_id: str, text: str) -> Json:
    return {"id": entry_id, "timestamp": TIME, "type": "user", "content": [{"text": text}]}


def compressed(entry_id: str) -> Json:
    snapshot = prompt(entry_id, "<state_snapshot>Numbers were listed.</state_snapshot>")
    reply = {"id": f"{entry_id}r", "timestamp": TIME, "type": "gemini", "content": [{"text": "Got it."}]}
    return {"$set": {"messages": [prompt("x", "<session_context>"), snapshot, reply]}}


def write(path: Path, *records: Json) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(record, separators=(',', ':'))}\n" for record in records)


def answer(path: Path, name: str = "AfterTool") -> str:
    made = answer_to("gemini", {"hook_event_name": name, "transcript_path": str(path)})
    if made is None:
        return ""
    output = json.loads(made)["hookSpecificOutput"]
    assert output["hookEventName"] == name
    return str(output["additionalContext"])


def test_each_compression_is_answered_once(tmp_path: Path) -> None:
    path = tmp_path / "session-1.jsonl"
    write(path, {"sessionId": "s", "projectHash": "0", "startTime": TIME}, prompt("u", RULE))
    assert answer(path) == ""
    write(path, prompt("v", "What is <state_snapshot>?"))
    assert answer(path) == ""
    write(path, compressed("s1"))
    assert RULE in answer(path)
    assert answer(path, "BeforeAgent") == ""
    write(path, compressed("s1"), prompt("w", "Go on."))
    assert answer(path, "BeforeAgent") == ""
    write(path, compressed("s2"))
    assert RULE in answer(path, "BeforeAgent")
    assert answer(path) == ""


def test_a_session_that_is_not_recorded_has_lost_nothing() -> None:
    assert answer_to("gemini", {"hook_event_name": "BeforeAgent", "transcript_path": ""}) is None


def test_what_cannot_be_answered_is_tried_once(tmp_path: Path) -> None:
    path = tmp_path / "session-1.jsonl"
    write(path, {"sessionId": "s", "projectHash": "0", "startTime": TIME})
    write(path, prompt("v", "<state_snapshot> is what?"))  # nothing was compressed
    with pytest.raises(NotCompactedError):
        answer(path)
    assert answer(path) == ""
    write(path, prompt("u", RULE), compressed("s1"))
    assert RULE in answer(path)
