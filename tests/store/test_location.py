"""One file for each workspace, whatever its URI is spelled like."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.engine import make_url

from coppice.store.tree.location import canonical_uri, workspace_database

FOLDER = Path("/data/coppice")


def file_of(uri: str) -> Path:
    return Path(make_url(workspace_database(FOLDER, uri)).database or "")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("file:///a/b", "file:///a/b/"),
        ("file:///a/b", "FILE:///a//b"),
        ("file:///a/b", "file://localhost/a/b"),
        ("file:///a/b%20c", "file:///a/b c"),
        ("file:///a/%c3%a9", "file:///a/é"),
        ("file:///a/%C3%A9", "file:///a/%c3%a9"),
        ("file:///c%3A/Work", "file:///C:/Work/"),
        ("file:///c:/Work", "file:///C%3a/Work"),
        ("file:///a/b%2Dc", "file:///a/b-c"),
        ("file://server/share", "file://SERVER/share/"),
        ("file:///c:/Work", "file://%3F/C%3A/Work"),
        ("file://server/share/w", "file://%3F/UNC/Server/share/w"),
        ("vscode-remote://ssh-remote%2Bbox/a", "vscode-remote://ssh-remote+box/a/"),
    ],
)
def test_spellings_of_one_folder_share_a_file(one: str, other: str) -> None:
    assert workspace_database(FOLDER, one) == workspace_database(FOLDER, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("file:///a/b", "file:///a/B"),
        ("file:///a/b", "file:///a/b/c"),
        ("file:///a/b", "file://server/a/b"),
        ("file:///x/same", "file:///y/same"),
        ("file:///a%2525", "file:///a%25"),
        ("file:///caf%E9", "file:///caf%E8"),
        ("vscode-remote://one/a", "vscode-remote://two/a"),
        ("", "file:///"),
    ],
)
def test_different_folders_have_different_files(one: str, other: str) -> None:
    assert workspace_database(FOLDER, one) != workspace_database(FOLDER, other)


@pytest.mark.parametrize(
    ("uri", "slug"),
    [
        ("file:///home/someone/My%20Garden", "my-garden"),
        ("file:///", "workspace"),
        ("", "workspace"),
        ("file:///木", "workspace"),
        ("file:///a/..%2f..%2fetc", "etc"),
        ("file:///" + "long" * 50, "long" * 10),
    ],
)
def test_a_file_is_named_after_its_folder(uri: str, slug: str) -> None:
    assert file_of(uri).name.removesuffix(".sqlite3")[:-17] == slug


@given(st.text() | st.text("file:/%cC3aA.~?#[]@ ", max_size=30))
def test_any_text_leads_to_a_file_in_the_folder(uri: str) -> None:
    file = file_of(uri)
    assert file.parent == FOLDER
    assert file.name.isascii()
    assert canonical_uri(canonical_uri(uri)) == canonical_uri(uri)
