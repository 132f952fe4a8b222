"""The databases of agents: a session in each, and others that are drawn from it at random."""

import contextlib
import copy
import json
import random
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final

from attacks.test_any_session_values import VALUES, places, replaced

MESSAGE: Final = '{"role": "assistant", "time": {"created": 1, "completed": 2}}'
PART: Final = (
    '{"type": "tool", "tool": "bash", "callID": "c", "state": {"status": "completed", "input": {"a": 1}}}'
)
EVENT: Final = (
    '{"type": "message", "id": "a", "parentId": null, "timestamp": "2026-11-24T04:23:08.961Z", '
    '"message": {"role": "user", "content": "go"}}'
)
SUMMARY: Final = MESSAGE.replace("{", '{"summary": true, ', 1)
COMPACTION: Final = EVENT.replace('"message",', '"compaction", "summary": "Go on.", "firstKeptEntryId": "a",')
CHARS: Final = 6_000
"""Characters of the shortest text."""
ROWS_OF_SMALLEST: Final = 100
"""By which the smallest database has more rows."""

Row = dict[str, Any]
Tables = dict[str, Row]
"""One row of each table."""
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
ROWS: Final[dict[str, dict[str, list[Row]]]] = {
    "opencode": {
        "message": [{}, {"data": MESSAGE.replace("assistant", "user")}, {"data": SUMMARY}],
        "part": [
            {},
            {"data": '{"type": "text", "text": "Go on."}'},
            {"data": '{"type": "compaction", "tail_start_id": "m"}'},
        ],
    },
    "hermes": {
        "messages": [
            {},
            {"role": "user", "content": "Go on.", "tool_calls": None},
            {"role": "tool", "content": '{"output": "done", "exit_code": 1}', "tool_call_id": "c"},
            {"role": "user", "content": "[CONTEXT COMPACTION\n## Goal\nGo on.", "tool_calls": None},
            {"role": "user", "content": "Go on.", "active": 0, "tool_calls": None},
        ]
    },
    "openclaw": {
        "transcript_events": [
            {},
            {"event_json": EVENT.replace("user", "assistant")},
            {"event_json": EVENT.replace("null", '"a"')},
            {"event_json": COMPACTION},
        ]
    },
}
"""What else is in a row of those tables that hold the messages, by the columns that differ."""


def write(path: Path, tables: Tables, more: Mapping[str, Sequence[Row]] | None = None) -> None:
    """Makes the database, with further rows."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for table, row in tables.items():
            connection.execute(f"CREATE TABLE {table} ({', '.join(row)})")
            marks = ", ".join("?" for _ in row)
            rows = [[*each.values()] for each in (row, *(more or {}).get(table, ()))]
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608
        connection.commit()


class Databases:
    """Draws databases, the same for the same seed. Each is a file in `folder`, and the name of its format."""

    def __init__(self, seed: int, folder: Path, text: Callable[[int], str]) -> None:
        self.chance, self._folder, self._text = random.Random(seed), folder, text
        self._numbers = count()

    def changed(self) -> tuple[Path, str]:
        """Some values are others, also such as are within a JSON text."""
        name = self.chance.choice(sorted(DATABASES))
        tables = copy.deepcopy(DATABASES[name])
        more = {table: [{**tables[table], **row} for row in rows] for table, rows in ROWS[name].items()}
        for _ in range(self.chance.randrange(1, 5)):
            table = self.chance.choice(sorted(tables))
            row = self.chance.choice([tables[table], *more.get(table, ())])
            column = self.chance.choice(sorted(row))
            row[column] = self._other(row[column])
        return self._written(tables, more), name

    def growing_text(self) -> tuple[str, Callable[[int], tuple[Path, str]]]:
        """One text has so many times the size."""
        name = self.chance.choice(sorted(DATABASES))
        table = self.chance.choice(sorted(ROWS[name]))
        tables = DATABASES[name]
        row = {**tables[table], **self.chance.choice(ROWS[name][table])}
        column = self.chance.choice([each for each in sorted(row) if isinstance(row[each], str)])
        inner = [place for place in places(_json(row[column])) if place[-1] not in {"type", "role", "id"}]
        place = self.chance.choice(inner) if inner else None
        before, unit, after = self._text(2), self._text(2), self._text(2)

        def sized(times: int) -> tuple[Path, str]:
            text = before + unit * (times * CHARS // len(unit)) + after
            new = text if place is None else json.dumps(replaced(_json(row[column]), place, text))
            return self._written({**tables, table: {**row, column: new}}, {}), name

        return f"{name} {table}.{column} {place} {before!r} {unit!r} {after!r}", sized

    def growing_number(self) -> tuple[str, Callable[[int], tuple[Path, str]]]:
        """Some rows of each table with messages are repeated so many times, each time with other ids."""
        name = self.chance.choice(sorted(DATABASES))
        drawn = {table: self.chance.choices(rows, k=3) for table, rows in ROWS[name].items()}

        def sized(times: int) -> tuple[Path, str]:
            more = {
                table: [
                    _numbered({**DATABASES[name][table], **rows[number % 3]}, number + 1)
                    for number in range(times * ROWS_OF_SMALLEST)
                ]
                for table, rows in drawn.items()
            }
            return self._written(DATABASES[name], more), name

        return f"{name} {drawn}", sized

    def _other(self, value: Any) -> Any:
        made = _json(value)
        inner = [*places(made)]
        if inner and self.chance.random() < 0.7:
            new = self.chance.choice([*VALUES, self._text(30), made])
            return json.dumps(replaced(made, self.chance.choice(inner), new))
        new = self.chance.choice([None, -1, 2**62, 1.5, "", "\0", b"\xff", self._text(30), "[]", "{}"])
        return new if value is None or self.chance.random() < 0.9 else str(value)

    def _written(self, tables: Tables, more: Mapping[str, Sequence[Row]]) -> Path:
        path = self._folder / f"{next(self._numbers)}.db"
        write(path, tables, more)
        return path


def _json(value: Any) -> Any:
    with contextlib.suppress(ValueError):
        return json.loads(value) if isinstance(value, str) else None
    return None


def _numbered(row: Row, number: int) -> Row:
    """The row with the ids of another: its numbers are its own, and its texts name those of its number."""
    made = {}
    for column, value in row.items():
        if column in {"id", "message_id"}:
            made[column] = value + number if isinstance(value, int) else f"{value}{number}"
        elif column in {"seq", "time_created"}:
            made[column] = value + number
        elif isinstance(value, str):
            made[column] = value.replace('"a"', f'"a{number}"').replace("null", f'"a{number - 1}"')
        else:
            made[column] = value
    return made
