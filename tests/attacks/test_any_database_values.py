"""A database of an agent whose columns have values of any kind is read, or refused with a reason."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from attacks.agents_databases import DATABASES, Tables, write

from coppice.errors import ImportFailedError
from coppice.formats.reading import open_growing
from coppice.formats.registry import format_named
from coppice.sources.database import DatabaseAgent
from coppice.sources.registry import AGENTS

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
    write(path, DATABASES[name])
    assert len([*open_growing(path, name, part="s")]) == (2 if name == "opencode" else 1)
    for tables in changed(DATABASES[name]):
        path.unlink()
        write(path, tables)
        assert all(0 <= each.modified < 2**40 for each in agent.transcripts(tmp_path, {}))
        try:
            reader = open_growing(path, name, part="s")
            entries = [*reader]
        except ImportFailedError:
            continue
        for line in format_named("coppice").write(reader.header, entries, leaf_id=reader.leaf_id):
            line.encode()
