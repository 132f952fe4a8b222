"""A database of an agent whose columns have values of any kind is read, or refused with a reason."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from coppice.errors import ImportFailedError
from coppice.formats.reading import open_growing
from coppice.formats.registry import format_named
from coppice.sources.database import DatabaseAgent
from coppice.sources.registry import AGENTS

MESSAGE: Final = '{"role": "assistant", "time": {"created": 1, "completed": 2}}'
PART: Final = (
    '{"type": "tool", "tool": "bash", "callID": "c", "state": {"status": "completed", "input": {"a": 1}}}'
)
EVENT: Final = (
    '{"type": "message", "id": "a", "parentId": null, "timestamp": "2026-11-24T04:23:08.961Z", '
    '"message": {"role": "user", "content": "go"}}'
)
Tables = dict[str, dict[str, Any]]
DATABASES: Final[dict[str, Tables]] = {
    "opencode": {
        "session": {
            "id": "s",
            "parent_id": None,
            "directory": "/w",
            "title": "t",
            "version": "1",
            "revert": "{}",
            "time_created": 1,
            "time_updated": 2,
        },
        "message": {"id": "m", "session_id": "s", "time_created": 1, "data": MESSAGE},
        "part": {"id": "p", "message_id": "m", "session_id": "s", "time_updated": 1, "data": PART},
    },
    "hermes": {
        "sessions": {
            "id": "s",
            "parent_session_id": None,
            "cwd": "/w",
            "title": "t",
            "model": "m",
            "started_at": 1.5,
            "source": "cli",
            "model_config": "{}",
        },
        "messages": {
            "id": 1,
            "session_id": "s",
            "role": "assistant",
            "content": "ok",
            "tool_call_id": None,
            "tool_calls": '[{"id": "c", "function": {"name": "n", "arguments": "{}"}}]',
            "tool_name": None,
            "timestamp": 1.5,
            "reasoning": None,
            "reasoning_content": "hm",
            "active": 1,
            "compacted": 0,
            "display_kind": None,
        },
    },
    "openclaw": {
        "session_nodes": {"session_key": "k", "current_session_id": "s"},
        "session_windows": {
            "session_id": "s",
            "session_key": "k",
            "parent_session_key": None,
            "spawned_by": None,
        },
        "transcript_events": {
            "session_id": "s",
            "seq": 1,
            "event_json": EVENT,
            "created_at": 1,
            "event_zstd": None,
        },
        "transcript_rewrite_watermarks": {"session_id": "s", "generation": "g"},
        "session_transcript_index_state": {
            "session_id": "s",
            "indexed_seq": 1,
            "leaf_event_id": "a",
            "needs_rebuild": 0,
        },
    },
}
VALUES: Final = [
    None,
    "",
    "text",
    "\0",
    -1,
    2**62,
    9e999,
    b"\xff",
    "[]",
    '[{"\\ud800": NaN}]',
    '{"\\ud800": 1}',
]
VALUES_WITHIN: Final = ["null", "9e999", "[]", '"\\ud800"', '{"\\ud800": {"\\udfff": NaN}}']


def written(path: Path, tables: Tables) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for table, row in tables.items():
            connection.execute(f"CREATE TABLE {table} ({', '.join(row)})")
            marks = ", ".join("?" for _ in row)
            connection.execute(f"INSERT INTO {table} VALUES ({marks})", [*row.values()])  # noqa: S608
        connection.commit()


def changed(tables: Tables) -> Iterator[Tables]:
    for table, row in tables.items():
        for column, value in row.items():
            for new in VALUES:
                yield {**tables, table: {**row, column: new}}
            for inner in VALUES_WITHIN if isinstance(value, str) else ():
                for place in ("1", "{}", '"c"', '"go"', '"completed"', '"user"', "null"):
                    if place in value:
                        yield {**tables, table: {**row, column: value.replace(place, inner)}}


@pytest.mark.parametrize("name", DATABASES)
def test_any_value_of_any_column_is_read_or_refused(name: str, tmp_path: Path) -> None:
    (agent,) = (each for each in AGENTS if each.name == name)
    assert isinstance(agent, DatabaseAgent)
    path = tmp_path / agent.files.replace("*", "main")
    path.parent.mkdir(parents=True, exist_ok=True)
    written(path, DATABASES[name])
    assert len([*open_growing(path, name, part="s")]) == (2 if name == "opencode" else 1)
    for tables in changed(DATABASES[name]):
        path.unlink()
        written(path, tables)
        assert all(0 <= each.modified < 2**40 for each in agent.transcripts(tmp_path, {}))
        try:
            reader = open_growing(path, name, part="s")
            entries = [*reader]
        except ImportFailedError:
            continue
        for line in format_named("coppice").write(reader.header, entries, leaf_id=reader.leaf_id):
            line.encode()
