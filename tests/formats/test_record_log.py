"""Formats that are a log of one path."""

import json

import pytest
from attacks.test_any_session_values import SESSIONS
from session_samples import read_text


@pytest.mark.parametrize("name", ["copilot", "qwen"])
def test_records_of_one_id_are_entries_of_several(name: str) -> None:
    lines = [*SESSIONS[name], SESSIONS[name][-1], SESSIONS[name][-1]]
    reader, entries = read_text("\n".join(map(json.dumps, lines)))
    first, second, third = entries[-3:]
    assert [second.id, third.id] == [f"{first.id}~2", f"{first.id}~3"]
    assert {entry.parent_id for entry in entries} <= {None, *(entry.id for entry in entries)}
    assert any("taken by an earlier entry" in warning for warning in reader.warnings)
