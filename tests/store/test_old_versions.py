"""Stores that earlier versions wrote, recorded: `old_versions/session.jsonl` as each of them imported it.

Version N is the schema's. PostgreSQL's are its dumps as INSERT statements, of a schema named `the_store`.
"""

import gzip
import json
import re
from pathlib import Path

import pytest
from sqlalchemy import text
from store.conftest import OpenStore
from store.store_kit import NOW, user

from coppice.store.engines.choosing import database
from coppice.store.engines.migrations import MIGRATIONS
from coppice.store.repair.copying import repair

RECORDED = Path(__file__).parent / "old_versions"
SESSION = [json.loads(line) for line in (RECORDED / "session.jsonl").read_text().splitlines()[1:]]
SQLITE = [f"version-{number}.sqlite3.gz" for number in range(1, MIGRATIONS[-1].number)]
POSTGRESQL = [f"version-{number}.sql" for number in range(2, MIGRATIONS[-1].number)]


def put(recording: str, url: str) -> None:
    content = (RECORDED / recording).read_bytes()
    if recording.endswith(".gz"):
        path = Path(url.removeprefix("sqlite:///"))
        path.parent.mkdir()
        path.write_bytes(gzip.decompress(content))
        return
    (schema,) = re.findall(r"search_path%3D(\w+)", url)
    opened = database(url, 1)
    with opened.writing() as connection:
        # The driver takes several statements at once only without parameters.
        connection.connection.cursor().execute(content.decode().replace("the_store.", f"{schema}."))
    opened.close()


@pytest.fixture(params=SQLITE + POSTGRESQL)
def url(request: pytest.FixtureRequest) -> str:
    """The URL of a store as an earlier version left it."""
    engine = "sqlite_url" if request.param in SQLITE else "postgres_url"
    store_url: str = request.getfixturevalue(engine)
    put(request.param, store_url)
    return store_url


def test_every_earlier_version_is_recorded() -> None:
    recorded = {path.name for path in RECORDED.glob("version-*")}
    assert recorded == {*SQLITE, *POSTGRESQL}


def test_a_recorded_store_has_all_that_was_imported(open_store: OpenStore) -> None:
    store = open_store()
    (conversation,) = store.conversations(limit=9)[0]
    assert (conversation.name, conversation.entry_count) == ("An orchard", len(SESSION))
    entries = store.all_entries(conversation.id)
    assert [entry.model_dump(by_alias=True, exclude_unset=True) for entry in entries] == SESSION
    nodes, *_ = store.tree(conversation.id, mode="all", limit=99)
    assert {node.id: node.label for node in nodes if node.label} == {"00000002": "start"}


def test_a_recorded_store_is_written_to_searched_and_emptied(open_store: OpenStore) -> None:
    store = open_store()
    (conversation,) = store.conversations(limit=9)[0]
    store.append(conversation.id, [user("Another oak.", "new")], modified_at=NOW)
    hits = {hit.entry_id for hit in store.search("oak", limit=9)}
    assert hits == {"new", "00000002", "00000006", "00000007", "00000008"}
    store.delete(conversation.id)
    store._purger.wait()
    with store._database.reading() as connection:  # the index shows nowhere else
        assert connection.execute(text("SELECT count(*) FROM entry_words")).scalar() == 0
        assert connection.execute(text("SELECT count(*) FROM piece_words")).scalar() == 0


@pytest.mark.parametrize("recording", SQLITE)
def test_a_repair_of_a_recorded_store_loses_nothing(recording: str, sqlite_url: str) -> None:
    put(recording, sqlite_url)
    repaired = repair(sqlite_url)
    assert (repaired.losses, repaired.conversations, repaired.entries) == ([], 1, len(SESSION))
