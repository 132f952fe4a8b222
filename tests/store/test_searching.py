"""Full-text search: what is found, where, and that the index follows the store."""

import threading
import unicodedata
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from store.conftest import OpenStore
from store.store_kit import NOW, activity, assistant, compaction, label, named, new_conversation, record, user
from waiting import wait_until

from coppice.errors import UnknownConversationError
from coppice.store.schema.records import NewRecord
from coppice.store.search import indexing
from coppice.store.store import Store
from coppice.tree.tags import attachment


def entries_with(store: Store, query: str, limit: int = 50, **where: Any) -> list[str]:
    return [hit.entry_id for hit in store.search(query, limit=limit, **where)]


def put(store: Store, conversation: str, *records: NewRecord) -> None:
    store.append(conversation, records, modified_at=NOW)


def indexed(store: Store) -> int:
    with store._database.reading() as connection:  # the index shows nowhere else
        return int(connection.execute(text("SELECT count(*) FROM entry_words")).scalar_one())


def call(**arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": "c1", "name": "write_file", "arguments": arguments}


TEXTS = [
    user("an oak by the gate", "text"),
    record(
        "message",
        "blocks",
        message={
            "role": "user",
            "content": [{"type": "text", "text": "a beech"}, {"type": "text", "text": "x"}],
        },
    ),
    assistant("a lime tree", "reply"),
    record(
        "message",
        "call",
        message={
            "role": "assistant",
            "content": [call(path="src/hornbeam.py", edits=[{"line": 4711, "new": "medlar\nquince"}])],
        },
    ),
    record(
        "message",
        "result",
        message={
            "role": "toolResult",
            "toolCallId": "c1",
            "toolName": "read_alder",
            "content": [{"type": "text", "text": "E0308: aspen"}],
            "isError": True,
        },
    ),
    record(
        "message",
        "bash",
        message={
            "role": "bashExecution",
            "command": "grep rowan",
            "output": "whitebeam\0",
            "cancelled": False,
            "truncated": False,
        },
    ),
    record("compaction", "cut", summary="Planted a yew."),
    record("branch_summary", "branch", summary="Felled a larch.", fromId="text"),
    record("custom_message", "custom", customType="n", content="a juniper", display=True),
    record(
        "message", "failed", message={"role": "assistant", "content": [], "errorMessage": "overloaded elm"}
    ),
]


@pytest.mark.parametrize(
    ("query", "entry_id"),
    [
        ("oak", "text"),
        ("beech", "blocks"),
        ("lime", "reply"),
        ("hornbeam", "call"),
        ("write_file", "call"),
        ("quince", "call"),
        ("4711", "call"),
        ("aspen", "result"),
        ("read_alder", "result"),
        ("rowan", "bash"),
        ("whitebeam", "bash"),
        ("yew", "cut"),
        ("larch", "branch"),
        ("juniper", "custom"),
        ("elm", "failed"),
    ],
)
def test_whatever_is_written_is_found(store: Store, conversation: str, query: str, entry_id: str) -> None:
    put(store, conversation, *TEXTS)
    assert entries_with(store, query) == [entry_id]


def test_thinking_images_and_metadata_are_not_searched(store: Store, conversation: str) -> None:
    thought = [{"type": "thinking", "thinking": "hidden"}]
    image = [{"type": "image", "data": "hidden", "mimeType": "image/png"}]
    put(
        store,
        conversation,
        record("message", "a", message={"role": "assistant", "content": thought}),
        record("message", "b", message={"role": "user", "content": image}),
        record("custom", "c", customType="hidden", data="hidden"),
        record("custom_message", "d", customType="harness", content="hidden", display=False),
        record("custom_message", "e", customType="memory", content="hidden", display=False),
        label("a", "hidden"),
        named("hidden"),
        activity("hidden"),
    )
    assert entries_with(store, "hidden") == []
    assert indexed(store) == 0


@pytest.mark.parametrize(
    ("query", "entry_ids"),
    [
        ("oak", ["d", "b", "a"]),
        ("OAK", ["d", "b", "a"]),
        ("old oak", ["b", "a"]),
        ("oak old", ["b", "a"]),
        ('"old oak"', ["a"]),
        ('"oak old"', []),
        ("old o", []),
        ("oaken", []),
        ("bee", ["c"]),
        ("bee ", []),
        ("be", []),
        ("old bee", []),
        ("cafe", ["d"]),
        ("café", ["d"]),
        ("parser.py", ["c"]),
        ("src/parser.py", ["c"]),
        ("src/pars", ["c"]),
        ("py parser", ["c"]),
        ("it's", ["d"]),
    ],
)
def test_words_are_all_wanted_and_quotes_keep_them_together(
    store: Store, conversation: str, query: str, entry_ids: list[str]
) -> None:
    put(
        store,
        conversation,
        user("An old oak.", "a"),
        user("The oak is old", "b"),
        user("Beeches, see src/parser.py", "c"),
        user("The Café 'Oak': it's closed", "d"),
    )
    assert entries_with(store, query) == entry_ids


@pytest.mark.parametrize(
    ("query", "entry_ids"),
    [
        ("登录", ["b", "a"]),
        ("登", ["c", "b", "a"]),
        ("录登", []),
        ("登录测试", ["b"]),
        ("登录 修复", ["a"]),
        ("修复 登录页面", ["a"]),
        ("テス", ["d"]),
        ("bug", ["a"]),
        ("的bug", ["a"]),
    ],
)
def test_chinese_is_found_by_any_part_of_it(
    store: Store, conversation: str, query: str, entry_ids: list[str]
) -> None:
    put(
        store,
        conversation,
        user("请修复登录页面的bug。", "a"),
        assistant("我先写登录测试", "b"),
        user("攀登高山", "c"),
        user("テストです", "d"),
    )
    assert entries_with(store, query) == entry_ids


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        '"',
        '""',
        "*",
        "()",
        "-",
        "NEAR(",
        "AND",
        "OR NOT",
        "a* OR b",
        "oak)",
        '"oak',
        "words:oak",
        "^oak",
        "{oak} : oak",
        "oak & !beech",
        "oak <-> beech",
        "oak:*",
        "\\",
        "';--",
        "\0",
        "\ud800",
        "oak\0gate",
        "\U0001f333",
        "\u0301",
        "٣",
        "x" * 5000,
        "木" * 1000,
        "a b " * 1000,
        "½ ㎞ ﷺ",
        "%_",
        "\x1a0",
    ],
)
def test_no_query_is_an_error(store: Store, conversation: str, query: str) -> None:
    put(store, conversation, user("an oak gate", "a"), user("木" * 70, "b"))
    assert set(entries_with(store, query)) <= {"a", "b"}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text() | st.text("oak 木\"*'\\-:()^&|!<>"))
def test_whatever_is_typed_the_search_answers(store: Store, query: str) -> None:
    store.search(query, limit=5)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.text(min_size=1))
def test_what_is_stored_is_found_by_searching_for_it(store: Store, content: str) -> None:
    conversation = store.create(new_conversation()).id
    put(store, conversation, user(content, "a"))
    words = "".join(char if char.isalnum() or unicodedata.combining(char) else " " for char in content)
    expected = ["a"] if any(char.isalnum() for char in words) else []
    assert entries_with(store, words, conversation_id=conversation) == expected


def test_a_hit_has_its_place_and_whether_it_is_on_the_current_branch(store: Store, conversation: str) -> None:
    put(store, conversation, user("The trunk.", "a"), user("A branch with an oak.", "b"))
    store.append(
        conversation,
        [user("Another one,\n with an oak.", "c", timestamp="2025-06-02T00:00:00Z")],
        parent_id="a",
        modified_at=NOW,
    )
    here, there = store.search("oak", limit=5)
    assert (here.entry_id, here.on_current_branch, there.entry_id, there.on_current_branch) == (
        "c",
        True,
        "b",
        False,
    )
    assert (here.conversation_id, here.timestamp) == (conversation, "2025-06-02T00:00:00Z")
    assert here.snippet == "Another one, with an oak."
    store.set_leaf(conversation, "a", modified_at=NOW)
    assert [hit.on_current_branch for hit in store.search("oak", limit=5)] == [False, False]
    store.set_leaf(conversation, None, modified_at=NOW)
    assert [hit.on_current_branch for hit in store.search("trunk", limit=5)] == [False]


def test_a_hit_in_an_attached_file_is_marked(store: Store, conversation: str) -> None:
    attached = attachment("a.md", "A willow.\n" * 3_000 + "An oak.")
    put(store, conversation, user(f"{attached}\nPlant an elm.", "a"))
    words = ("willow", "oak", "elm")
    assert [hit.attached for word in words for hit in store.search(word, limit=5)] == [True, True, None]


def test_a_search_stays_within_its_scope(store: Store) -> None:
    for name, folder in (("one", "a"), ("two", "a"), ("three", "b")):
        store.create(new_conversation(name, workspace_uri=f"file:///{folder}"))
        put(store, name, user("an oak", f"in {name}"))
    assert entries_with(store, "oak") == ["in three", "in two", "in one"]
    assert entries_with(store, "oak", limit=2) == ["in three", "in two"]
    assert entries_with(store, "oak", conversation_id="two") == ["in two"]
    assert entries_with(store, "oak", workspace_uri="file:///a/") == ["in two", "in one"]
    assert entries_with(store, "oak", workspace_uri="file:///b", conversation_id="one") == []
    with pytest.raises(UnknownConversationError):
        store.search("oak", conversation_id="nowhere", limit=5)


def test_a_search_sees_what_was_stored_just_before(store: Store, conversation: str) -> None:
    for number in range(5):
        put(store, conversation, user(f"tree number{number}"))
        assert len(entries_with(store, "tree")) == number + 1


def test_an_import_is_searched_once_it_is_whole(store: Store) -> None:
    with store.importing(new_conversation("c")) as writer:
        writer.add([user("an oak", "a")])
        assert entries_with(store, "oak") == []
    assert entries_with(store, "oak") == ["a"]


def test_a_deleted_conversation_is_not_found_and_leaves_the_index(store: Store) -> None:
    for name in ("kept", "gone"):
        store.create(new_conversation(name))
        put(store, name, user("an oak", f"in {name}"), compaction(None))
    assert indexed(store) == 0
    assert entries_with(store, "oak") == ["in gone", "in kept"]
    store.delete("gone")
    assert entries_with(store, "oak") == ["in kept"]
    store._purger.wait()
    assert indexed(store) == 2


def test_a_long_entry_is_found_by_its_beginning_and_its_end(store: Store, conversation: str) -> None:
    put(store, conversation, user(f"beginning {'x ' * 20_000} middle {'y ' * 20_000} end", "a"))
    assert [entries_with(store, word) for word in ("beginning", "middle", "end")] == [["a"], [], ["a"]]


def test_more_than_one_batch_is_caught_up_with(
    store: Store, conversation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "BATCH_CHARS", 3000)
    put(store, conversation, *[user(f"oak {'x' * (5000 if number == 20 else 40)}") for number in range(300)])
    assert len(entries_with(store, "oak", limit=1000)) == 300
    assert indexed(store) == 300


def test_servers_that_search_at_once_index_nothing_twice_and_miss_nothing(open_store: OpenStore) -> None:
    stores = [open_store(f"server {number}") for number in range(3)]
    conversation = stores[0].create(new_conversation()).id
    stop = threading.Event()
    failed: list[BaseException] = []

    def guarded(work: Any) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - a thread's failure is the test's
            failed.append(error)

    def append() -> None:
        for _ in range(60):
            put(stores[0], conversation, user("an oak"), user("an oak"))
        stop.set()

    def search(store: Store) -> None:
        seen = 0
        while not stop.is_set():
            hits = len(entries_with(store, "oak", limit=1000))
            assert hits >= seen
            seen = hits

    threads = [threading.Thread(target=guarded, args=(append,))]
    threads += [threading.Thread(target=guarded, args=(lambda one=one: search(one),)) for one in stores[1:]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(entries_with(stores[2], "oak", limit=1000)) == indexed(stores[0]) == 120


def test_what_was_stored_is_indexed_when_nothing_more_comes(open_store: OpenStore) -> None:
    store = open_store(index_idle_seconds=0.05)
    conversation = store.create(new_conversation()).id
    put(store, conversation, user("an oak"))
    wait_until(lambda: indexed(store) == 1)


def test_what_an_earlier_server_left_is_indexed_after_the_next_one_opens(open_store: OpenStore) -> None:
    first = open_store("first")
    put(first, first.create(new_conversation()).id, user("an oak"))
    first.close()
    second = open_store("second", index_idle_seconds=0.0)
    wait_until(lambda: indexed(second) == 1)


def test_an_append_indexes_nothing(store: Store, conversation: str) -> None:
    put(store, conversation, user("an oak"))
    assert indexed(store) == 0
