"""A session of opencode as a stored conversation, while it goes on."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest_service import Client
from formats.test_opencode_sessions import Database, text


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / "none"))
    folder = tmp_path / "opencode"
    folder.mkdir()
    made = Database(folder / "opencode.db")
    made.session("s")
    made.connection.execute("UPDATE session SET directory = ?", (str(tmp_path),))
    yield made
    made.connection.close()


async def test_what_came_after_is_added_and_what_was_taken_back_leaves_the_path(
    client: Client, database: Database, tmp_path: Path
) -> None:
    async def path() -> list[str]:
        database.connection.execute("UPDATE session SET time_updated = time_updated + 1")
        await client.service.following.update(tmp_path.as_uri())
        (conversation,) = (await client.ask("conversation/list", workspaceUri=tmp_path.as_uri()))[
            "conversations"
        ]
        store = client.service.stores.of_conversation(conversation["id"])
        end = store.end(conversation["id"])
        return [] if end is None else [row.id for row in store.rows(end, 0, end.depth)]

    database.message("m1", "user", text("go"))
    database.message("m2", "assistant", text("ok"))
    assert await path() == ["m1", "m2"]
    database.message("m3", "user", text("no"))
    database.message("m4", "assistant", text("hm"))
    assert await path() == ["m1", "m2", "m3", "m4"]
    database.connection.execute("UPDATE session SET revert = ?", (json.dumps({"messageID": "m3"}),))
    assert await path() == ["m1", "m2"]
    database.connection.execute("DELETE FROM message WHERE id IN ('m3', 'm4')")
    database.connection.execute("DELETE FROM part WHERE message_id IN ('m3', 'm4')")
    database.connection.execute("UPDATE session SET revert = NULL")
    database.message("m5", "user", text("so"))
    assert await path() == ["m1", "m2", "m5"]
    database.message("m6", "assistant", text("yes"))
    assert await path() == ["m1", "m2", "m5", "m6"]
