"""That something is not there is stated only where it is not there."""

from pathlib import Path

import pytest
from mcp_server.conftest import EARLIER, EDIT, OTHER_SESSION, Message, Start, assistant, result, stored, user

from coppice.mcp.absence import no_more
from coppice.mcp.arguments import SearchArguments
from coppice.mcp.options import Options
from coppice.mcp.project import Project
from coppice.mcp.searching import search_history

MORE = 400
"""Entries about the same: more than are read for a page of hits."""


@pytest.fixture
def crowded(folder: Path) -> Path:
    """A session about one thing in nearly every entry, with a call, its result and an edit that are old."""
    entries: list[Message] = [
        assistant("call-1", "", ("c1", "Bash", {"command": f"cat {'./' * 150}src/parser.py"})),
        result("call-2", "c1", "def input(): crash on empty"),
        assistant("edit-1", "", ("c2", "Edit", EDIT)),
    ]
    entries += [
        assistant(f"talk-{number}", f"Attempt {number}: the parser crash on empty input, a = 1, is back.")
        for number in range(MORE)
    ]
    stored(folder, entries)
    return folder


def test_what_names_the_file_is_found_among_much_that_does_not(start: Start, crowded: Path) -> None:
    text = start().call("history_search", query="parser crash on empty input", path="src/parser.py")
    assert 'id="call-1"' in text
    assert 'id="call-2"' in text
    assert "talk-" not in text


def test_an_edit_is_found_among_much_that_is_none(start: Start, crowded: Path) -> None:
    text = start().call("history_search", query="parser crash on empty input a = 1", kind="edit")
    assert 'id="edit-1"' in text
    assert "talk-" not in text


def test_where_not_all_was_looked_at_that_is_said(start: Start, folder: Path) -> None:
    words = [f"Attempt {number}: the parser crash is back." for number in range(1100)]
    edit = assistant("edit-1", "", ("c1", "Edit", {**EDIT, "new_string": "parser crash"}))
    stored(folder, [edit, *(assistant(f"talk-{number}", text) for number, text in enumerate(words))])
    text = start().call("history_search", query="parser crash", kind="edit")
    assert text == (
        "Nothing with this kind is among the 1,000 best and newest places that hold words of 'parser crash', "
        "and there are more. Use rarer words, or since and until."
    )
    assert 'id="edit-1"' in start().call("history_search", query="parser crash max_age", kind="edit")


def test_what_was_looked_through_is_within_the_bounds(start: Start, sessions: Path) -> None:
    client = start()
    late = client.call("history_search", query="kubernetes", since="2026-09-15")
    assert "in 1 conversation, 4 entries since 2026-10-01." in late
    early = client.call("history_search", query="kubernetes", until="2026-09-15")
    assert f"in 1 conversation, 6 entries since {EARLIER[:10]}." in early
    none = client.call("history_search", query="kubernetes", since="2026-09-15", agent="codex")
    assert "in 0 conversations, 0 entries." in none
    session = start("--session", OTHER_SESSION).call("history_search", query="kubernetes", scope="session")
    assert 'in 1 conversation, 6 entries since 2026-09-01. Scope "project" looks further.' in session


def test_of_a_long_history_no_times_are_looked_at_to_count(
    sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coppice.store.search.sessions.MOST_COUNTED", 9)
    project = Project(Options(str(sessions)))
    text = search_history(project, SearchArguments(query="kubernetes", since="2026-09-15"))
    assert text == (
        "Nothing found for 'kubernetes' in 2 conversations, 10 entries since 2026-09-01. "
        "Those of other times are counted too."
    )
    project.store.close()


def test_the_page_after_the_last_says_what_the_pages_before_had(start: Start, sessions: Path) -> None:
    asked = {"query": "thirty days", "cursor": "9"}
    one = "One relevant place in this project is on the pages before."
    assert start().call("history_search", **asked) == f"There are no more: {one}"
    assert no_more(12, 1500, "this session") == (
        "There are no more: 12 relevant places in this session are on the pages before. They are among the "
        "1,500 best and newest places that hold words of the query; there are more, which rarer words, or "
        "since and until, would find."
    )


def test_of_all_projects_all_is_counted(start: Start, sessions: Path, tmp_path: Path) -> None:
    meadow = tmp_path / "meadow"
    meadow.mkdir()
    stored(meadow, [user("meadow-1", "The tulip bulbs lie in the cellar.")], session="meadow-session")
    (tmp_path / "config" / "settings.toml").write_text("[mcp]\notherWorkspaces = true\n")
    text = start().call("history_search", query="kubernetes", scope="all")
    assert "in 3 conversations, 11 entries since 2026-09-01." in text


def test_a_place_that_names_the_file_has_a_word_of_the_question(start: Start, folder: Path) -> None:
    entries = [
        assistant("cat-1", "", ("c1", "Bash", {"command": "cat src/parser.py"})),
        result("cat-2", "c1", "def parse(): pass"),
        assistant("cat-3", "It parses words."),
    ]
    stored(folder, entries)
    client = start()
    asked = {"path": "src/parser.py"}
    assert "Nothing found" in client.call("history_search", query="kubernetes ingress", **asked)
    assert 'id="cat-2"' in client.call("history_search", query="def parse", **asked)
    assert 'id="cat-1"' in client.call("history_search", query="", **asked)


def test_a_secret_is_not_found_by_a_part_of_it(start: Start, folder: Path) -> None:
    key = "sk-ant-api03-" + "Qz7Lw2Xc9" * 5
    stored(folder, [user("keys-1", f"The deploy key is {key}"), user("keys-2", "The deploy key is old.")])
    client = start()
    for path in (key[:16], "Lw2Xc9", key):
        assert "Nothing found" in client.call("history_search", query="deploy key", path=path)


def test_the_users_words_are_found_among_much_that_an_application_added(start: Start, folder: Path) -> None:
    words = "the parser crash on empty input"
    selected = [
        user(f"added-{number}", f"<ide_selection>Selected {number}: {words}</ide_selection>\n{typed}")
        for number, typed in enumerate(["", "Go on with the next step."] * 75)
    ]
    stored(folder, [user("typed-1", "I fear the parser, a bit."), *selected])
    text = start().call("history_search", query="parser crash on empty input", role="user")
    assert 'id="typed-1"' in text
    assert "added-" not in text
