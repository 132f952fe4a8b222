"""A database server that goes away: nothing acknowledged is lost, nothing is stored twice."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import pytest
from postgres_server import PASSWORD, PostgresServer, fresh_schema, running_server
from sqlalchemy import Connection, event, text
from store.store_kit import NOW, assistant, new_conversation, news, user

from coppice.errors import StorageFailedError
from coppice.store.engines import postgres as postgres_module
from coppice.store.engines.choosing import name_of
from coppice.store.engines.postgres import PostgresDatabase
from coppice.store.store import Store


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """A server of the test's own, which it may stop."""
    with running_server() as one:
        yield one


@pytest.fixture
def url(postgres: PostgresServer) -> Iterator[str]:
    with fresh_schema(postgres) as schema:
        yield schema


OpenStore = Callable[..., Store]


@pytest.fixture
def opened() -> Iterator[OpenStore]:
    """Opens stores, and closes them when the test is over however it ends."""
    stores: list[Store] = []

    def open_one(url: str, server_id: str = "one", **more: Any) -> Store:
        stores.append(Store.open(url, server_id=server_id, index_idle_seconds=None, **more))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()


@pytest.fixture
def store(url: str, opened: OpenStore) -> Store:
    return opened(url)


def path_of(store: Store, conversation: str) -> list[str]:
    end = store.end(conversation)
    return [] if end is None else [row.id for row in store.rows(end, 0, end.depth)]


def append_while(
    stores: list[Store], conversation: str, disturb: Callable[[], None], *, calls: int
) -> tuple[list[str], list[str]]:
    """The ids that were acknowledged while `disturb` ran again and again, and why calls failed."""
    acknowledged: list[str] = []
    failed: list[str] = []
    done = threading.Event()

    def disturb_until_done() -> None:
        while not done.wait(0.1):
            disturb()

    def work(number: int) -> None:
        for turn in range(calls):
            name = f"{number}-{turn}"
            call = [user(entry_id=f"{name}-a"), assistant("x" * 3000, f"{name}-b")]
            try:
                result = stores[number].append(conversation, call, modified_at=NOW)
            except StorageFailedError as error:
                failed.append(f"{error} {error.__cause__!r}")
            else:
                assert result.stored == result.entry_ids
                acknowledged.extend(result.entry_ids)

    disturber = threading.Thread(target=disturb_until_done)
    disturber.start()
    try:
        with ThreadPoolExecutor(len(stores)) as pool:
            list(pool.map(work, range(len(stores))))
    finally:
        done.set()
        disturber.join()
    return acknowledged, failed


def test_appends_go_on_through_dropped_connections(
    postgres: PostgresServer, url: str, opened: OpenStore
) -> None:
    stores = [opened(url, f"server {number}", busy_seconds=60) for number in range(3)]
    conversation = stores[0].create(new_conversation()).id
    dropped = 0

    def drop() -> None:
        nonlocal dropped
        dropped += postgres.drop_connections()

    acknowledged, failed = append_while(stores, conversation, drop, calls=60)
    assert dropped > 5
    assert failed == []
    path = path_of(stores[0], conversation)
    assert len(path) == len(set(path)) == stores[0].conversation(conversation).entry_count == 360
    assert sorted(path) == sorted(acknowledged)
    assert all(after == before[:-1] + "b" for before, after in zip(path[::2], path[1::2], strict=True))


def test_appends_go_on_through_a_crash_of_the_server(server: PostgresServer, opened: OpenStore) -> None:
    store = opened(server.url(), busy_seconds=60)
    conversation = store.create(new_conversation()).id
    crashes = 0

    def crash() -> None:
        nonlocal crashes
        if crashes < 2:
            time.sleep(0.2)
            server.stop()
            server.start()
            crashes += 1

    acknowledged, failed = append_while([store], conversation, crash, calls=300)
    assert (crashes, failed) == (2, [])
    assert path_of(store, conversation) == acknowledged


def cut_off(store: Store, when: str, hang_up: Callable[[], object], statement: str = "") -> list[str]:
    """Hangs up once, before a statement is sent or before or after a commit is; what was cut off."""
    done: list[str] = []

    def before_statement(*about: Any) -> None:
        if about[2].startswith(statement) and not done:
            done.append(about[2])
            hang_up()

    def at_commit(connection: Connection) -> None:
        if not done:
            done.append("COMMIT")
            if when == "after the commit":
                # What the engine does next fails, but the server has done it already.
                driver: Any = connection.connection.driver_connection
                driver.commit()
            hang_up()
            # The hanging up is noticed at the latest here, as an answer that never comes.
            connection.exec_driver_sql("SELECT 1")

    engine = store._database._engine  # where a connection can be cut at a chosen moment
    if when == "before a statement":
        event.listen(engine, "before_cursor_execute", before_statement)
    else:
        event.listen(engine, "commit", at_commit)
    return done


@pytest.mark.parametrize("when", ["before a statement", "before the commit", "after the commit"])
def test_an_append_cut_off_at_any_moment_is_stored_once(
    postgres: PostgresServer, store: Store, when: str
) -> None:
    conversation = store.create(new_conversation()).id
    done = cut_off(store, when, postgres.drop_connections, "INSERT INTO entry")
    result = store.append(conversation, [user(entry_id="a"), user(entry_id="b")], modified_at=NOW)
    assert len(done) == 1
    assert (result.stored, result.leaf_id, result.leaf_moved) == (["a", "b"], "b", True)
    assert path_of(store, conversation) == ["a", "b"]
    assert store.conversation(conversation).entry_count == 2


@pytest.mark.parametrize("when", ["before a statement", "before the commit", "after the commit"])
def test_an_import_cut_off_at_any_moment_is_stored_once(
    postgres: PostgresServer, store: Store, when: str
) -> None:
    with store.importing(new_conversation("c")) as writer:
        writer.add([user("First.", "a")])
        done = cut_off(store, when, postgres.drop_connections, "INSERT INTO entry")
        writer.add([user(entry_id="b", parent="a"), user(entry_id="c", parent="b")])
        assert len(done) == 1
    assert path_of(store, "c") == ["a", "b", "c"]
    assert store.conversation("c").entry_count == 3


def test_a_read_cut_off_is_read_again(postgres: PostgresServer, store: Store) -> None:
    conversation = store.create(new_conversation()).id
    store.append(conversation, [user(entry_id="a")], modified_at=NOW)
    done = cut_off(store, "before a statement", postgres.drop_connections, "SELECT entry")
    assert path_of(store, conversation) == ["a"]
    assert len(done) == 1


def test_a_write_that_the_server_undoes_is_repeated_until_it_succeeds(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_module, "_LONGEST_PAUSE", 0.001)
    undone = 0

    def write(connection: Connection) -> str:
        nonlocal undone
        if undone < 20:
            undone += 1
            connection.execute(
                text("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'serialization_failure'; END $$")
            )
        return "stored"

    assert (store._database.write(write), undone) == ("stored", 20)


def test_a_server_that_stays_away_is_reported_and_found_again(
    server: PostgresServer, opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(server.url(), busy_seconds=0.3)
    conversation = store.create(new_conversation()).id
    server.stop()
    for ask in (
        lambda: store.append(conversation, [user(entry_id="a")], modified_at=NOW),
        lambda: store.end(conversation),
    ):
        with pytest.raises(StorageFailedError, match="database server"):
            ask()
    server.start()
    monkeypatch.setattr(store._database, "_busy_seconds", 60)
    store.append(conversation, [user(entry_id="a")], modified_at=NOW)
    assert path_of(store, conversation) == ["a"]


def test_a_commit_whose_outcome_cannot_be_learnt_is_reported_as_uncertain(
    server: PostgresServer, opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(server.url(), busy_seconds=0.3)
    conversation = store.create(new_conversation()).id
    cut_off(store, "after the commit", server.stop)
    call = [user(entry_id="a")]
    with pytest.raises(StorageFailedError, match="not known") as failed:
        store.append(conversation, call, modified_at=NOW)
    assert failed.value.data == {"uncertain": True}
    server.start()
    monkeypatch.setattr(store._database, "_busy_seconds", 60)
    store.append(conversation, call, modified_at=NOW)
    assert path_of(store, conversation) == ["a"]


def test_changes_made_while_nobody_could_listen_are_reported_later(
    postgres: PostgresServer, url: str, opened: OpenStore
) -> None:
    one, other = opened(url, "one"), opened(url, "other")
    assert other.changes() == []
    conversation = one.create(new_conversation()).id
    assert [change.conversation_id for change in news(other)] == [conversation]
    postgres.drop_connections()
    one.append(conversation, [user()], modified_at=NOW)
    assert [change.kinds for change in news(other)] == [["entries", "leaf"]]


def test_asking_for_changes_sends_nothing_while_there_are_none(url: str, opened: OpenStore) -> None:
    one, other = opened(url, "one"), opened(url, "other")
    other.changes()
    other.changes()
    sent: list[str] = []
    event.listen(
        other._database._engine, "before_cursor_execute", lambda *about: sent.append(about[2])
    )  # how cheap it is shows nowhere else
    assert [other.changes() for _ in range(50)] == [[]] * 50
    assert sent == []
    one.create(new_conversation())
    assert len(news(other)) == 1


def test_a_server_that_answers_before_it_is_safe_is_asked_to_wait(
    postgres: PostgresServer, url: str, opened: OpenStore
) -> None:
    relaxed = f"{url}%20-csynchronous_commit%3Doff"
    store = opened(relaxed)
    with store._database.reading() as connection:  # the settings of the store's own connections
        assert connection.execute(text("SHOW synchronous_commit")).scalar() == "on"
        assert connection.execute(text("SHOW jit")).scalar() == "off"


def test_the_tables_of_another_program_are_refused_untouched(
    postgres: PostgresServer, url: str, opened: OpenStore
) -> None:
    schema = url.rpartition("%3D")[2]
    postgres.execute(f"CREATE TABLE {schema}.conversation (topic text)")
    with pytest.raises(StorageFailedError, match="another program"):
        opened(url)
    tables = postgres.execute(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = %s", schema
    )
    assert tables == [("conversation",)]


def error_text(error: BaseException | None) -> str:
    collected = ""
    while error is not None:
        collected += f"{error!r} {error} {getattr(error, 'data', '')}"
        error = error.__cause__ or error.__context__
    return collected


@pytest.mark.parametrize("place", ["password", "query"])
def test_a_password_is_in_no_error_and_no_log(
    postgres: PostgresServer, place: str, caplog: pytest.LogCaptureFixture, opened: OpenStore
) -> None:
    caplog.set_level(0)
    right = postgres.tcp_url()
    if place == "query":
        right = f"postgresql+psycopg://guarded@127.0.0.1:{postgres.port}/postgres?password={quote(PASSWORD)}"
    store = opened(right)
    assert PASSWORD not in repr(store._database._engine)
    with pytest.raises(StorageFailedError, match="password of") as refused:
        opened(postgres.tcp_url("Wr0ng/pass"))
    assert "Wr0ng" not in error_text(refused.value)
    assert "Wr0ng" not in caplog.text
    assert PASSWORD not in caplog.text


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://me:s3/cret@host/db",
        "postgresql+psycopg://me:s3cret@host:s3cret/db",
        "postgresql+psycopg://me:s3cret@127.0.0.1:1/db",
        "postgresql+psycopg://me@127.0.0.1:1/db?password=s3cret",
        "postgresql+psycopg://me:s3cret@127.0.0.1:1/db?nonsense=1",
        "mysql+nothing://me:s3cret@host/db",
    ],
)
def test_a_url_that_leads_nowhere_shows_no_secret(url: str, opened: OpenStore) -> None:
    with pytest.raises(StorageFailedError) as refused:
        opened(url)
    assert "cret" not in error_text(refused.value)
    assert "cret" not in name_of(url)


def test_a_crash_that_forgets_a_transaction_before_its_commit_costs_nothing(
    server: PostgresServer, opened: OpenStore
) -> None:
    store = opened(server.url(), busy_seconds=60)
    conversation = store.create(new_conversation()).id

    def crash() -> None:
        server.stop()
        server.start()

    cut_off(store, "before the commit", crash)
    store.append(conversation, [user(entry_id="a")], modified_at=NOW)
    assert path_of(store, conversation) == ["a"]
    with store._database.reading() as connection:  # nobody else asks for a number
        newest = connection.execute(text("SELECT pg_current_xact_id()")).scalar_one()
    assert isinstance(store._database, PostgresDatabase)
    assert not store._database._was_committed(str(int(newest) + 1_000_000))
