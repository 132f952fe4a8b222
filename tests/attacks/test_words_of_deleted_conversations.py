"""Nothing that a deleted conversation said is left in the store's files, nor in the full-text index."""

from pathlib import Path

import pytest
from store.store_kit import NOW, new_conversation, user

from coppice.store.store import Store
from coppice.store.tree import purging

SECRETS = [f"{(number * 2654435761) % 2**32:08x}plum" for number in range(1, 40)]
"""Words that begin differently: the index keeps what a word does not share with the one before."""


def fill(store: Store, conversation: str, text: str, entries: int = 30) -> None:
    store.create(new_conversation(conversation, name=f"about {text[:30]}"))
    for number in range(entries):
        # Batches of their own: as many segments of the index.
        store.append(conversation, [user(f"{text} and pear {number}")], modified_at=NOW)
        store.search("pear", limit=1)


def traces(folder: Path) -> list[str]:
    contents = b"".join(file.read_bytes() for file in folder.iterdir())
    return [secret for secret in SECRETS if secret[3:].encode() in contents]


def test_words_are_gone_after_the_purge(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/store.sqlite3", server_id="s")
    fill(store, "goes", " ".join(SECRETS))
    fill(store, "stays", "apple")
    assert store.search(SECRETS[7], limit=1)
    store.delete("goes")
    store._purger.wait()
    assert store.search("apple", limit=1)
    assert store.damages() == []
    store.close()
    assert traces(tmp_path) == []


def test_a_purge_that_was_interrupted_is_completed_by_the_next_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/store.sqlite3"
    store = Store.open(url, server_id="s")
    fill(store, "goes", " ".join(SECRETS))
    fill(store, "stays", "apple")
    with monkeypatch.context() as patched:
        patched.setattr(purging.Purger, "_purge_words", lambda _: False)
        store.delete("goes")
        store._purger.wait()
        store.close()
    assert traces(tmp_path) != []
    later = Store.open(url, server_id="later")
    later._purger.wait()
    later.close()
    assert traces(tmp_path) == []
