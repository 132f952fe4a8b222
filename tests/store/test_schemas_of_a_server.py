"""A store on PostgreSQL whose search path has several schemas, of which others may have made one."""

from collections.abc import Iterator

import pytest
from postgres_server import PostgresServer, fresh_schema
from sqlalchemy import text
from store.conftest import OpenStore
from store.store_kit import NOW, new_conversation, user

from coppice.errors import StorageFailedError
from coppice.store.store import Store


@pytest.fixture
def schema(postgres: PostgresServer) -> Iterator[str]:
    """The schema of the store, the second of the search path."""
    with fresh_schema(postgres) as url:
        yield url.rpartition("%3D")[2]


@pytest.fixture
def earlier(postgres: PostgresServer, schema: str) -> Iterator[str]:
    """The first of the search path, which is not there yet."""
    yield f'"Earlier {schema}"'
    postgres.execute(f'DROP SCHEMA IF EXISTS "Earlier {schema}" CASCADE')


@pytest.fixture
def url(postgres: PostgresServer, schema: str, earlier: str) -> str:
    return postgres.url(rf"{earlier.replace(' ', chr(92) + ' ')},{schema}")


def append_one(store: Store) -> str:
    conversation = store.create(new_conversation()).id
    store.append(conversation, [user(entry_id="a")], modified_at=NOW)
    return conversation


def test_a_schema_that_is_made_before_the_store_s_gets_nothing(
    postgres: PostgresServer, open_store: OpenStore, schema: str, earlier: str
) -> None:
    before = open_store("before")
    append_one(before)
    postgres.execute(f"CREATE SCHEMA {earlier}")
    postgres.execute(f"CREATE TABLE {earlier}.entry (LIKE {schema}.entry INCLUDING ALL)")
    for store in (before, open_store("after")):
        append_one(store)
        store._database.rest()
        append_one(store)
    assert postgres.execute(f"SELECT count(*) FROM {earlier}.entry") == [(0,)]  # noqa: S608 - our own name
    assert postgres.execute(f"SELECT count(*) FROM {schema}.entry") == [(5,)]  # noqa: S608 - our own name


def test_a_new_store_is_made_in_the_first_schema_and_remains_there(
    postgres: PostgresServer, open_store: OpenStore, schema: str, earlier: str
) -> None:
    postgres.execute(f"CREATE TABLE {schema}.entry (recipe text)")
    postgres.execute(f"CREATE SCHEMA {earlier}")
    store = open_store()
    append_one(store)
    store._database.rest()
    append_one(open_store("another"))
    append_one(store)
    with store._database.reading() as connection:  # the settings of the store's own connections
        assert connection.execute(text("SHOW search_path")).scalar() == earlier
    assert postgres.execute(f"SELECT count(*) FROM {earlier}.entry") == [(3,)]  # noqa: S608 - our own name


def test_a_store_in_two_schemas_is_refused_until_one_is_named(
    postgres: PostgresServer, open_store: OpenStore, schema: str, earlier: str
) -> None:
    append_one(open_store())
    postgres.execute(f"CREATE SCHEMA {earlier}")
    postgres.execute(f"CREATE TABLE {earlier}.coppice_schema (version integer)")
    with pytest.raises(StorageFailedError, match=f"Several schemas .*: {earlier}, {schema}\\."):
        open_store()
    named = Store.open(postgres.url(schema), server_id="named")
    append_one(named)
    named.close()
    assert postgres.execute(f"SELECT count(*) FROM {schema}.entry") == [(2,)]  # noqa: S608 - our own name
