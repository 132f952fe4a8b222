"""SQLite keeps any value in any column, and no check of its own finds one that is rotten."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from conftest_service import Client
from service.conversations.test_following import agents, folder, path_of, stored, turns, write

__all__ = ["agents", "folder"]


@pytest.mark.parametrize(
    "rotten",
    [
        "checkpoint = '{'",
        "checkpoint = '[]'",
        "checkpoint = '{}'",
        "checkpoint = json_set(checkpoint, '$.state', json('{}'))",
        "checkpoint = json_set(checkpoint, '$.offset', null)",
        "entries = 'many'",
    ],
)
async def test_a_rotten_reading_stops_no_update(
    client: Client, agents: Path, folder: Path, data_directory: Path, rotten: str
) -> None:
    for name in ("s1", "s2"):
        write(agents, folder, turns(folder, 2), name)
    await client.service.following.update(folder.as_uri())
    with closing(sqlite3.connect(data_directory / "transcripts.db")) as connection:
        connection.execute(f"UPDATE reading SET {rotten} WHERE key = 's1'")  # noqa: S608 - of those above
        connection.commit()
    for name in ("s1", "s2"):
        write(agents, folder, turns(folder, 3), name)
    updated = await client.service.following.update(folder.as_uri())
    assert updated.problems == []
    assert [len(path_of(client, each)) for each in await stored(client, folder)] == [6, 6]
