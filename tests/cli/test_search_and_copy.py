"""`coppice search` and `coppice copy`."""

import json
from pathlib import Path

import pytest
from cli.conftest import Coppice
from cli.sessions import assistant, long_session, user, write_session


def imported(coppice: Coppice, file: Path, *options: str | Path) -> str:
    return str(json.loads(coppice("import", file, *options, "--json").out)["conversation"]["id"])


@pytest.fixture
def conversation(coppice: Coppice, tmp_path: Path) -> str:
    entries = [
        user("Plant an oak.\x1b[31m"),
        assistant("An oak stands by the gate."),
        user("然后修复登录页面"),
    ]
    return imported(coppice, write_session(tmp_path / "short.jsonl", entries))


def test_what_was_written_is_found_newest_first(coppice: Coppice, conversation: str) -> None:
    ran = coppice("search", "oak")
    rows = [row.split("\t") for row in ran.out.splitlines()]
    assert [row[:2] for row in rows] == [[conversation, "e1"], [conversation, "e0"]]
    assert [row[3:] for row in rows] == [
        ["current", "An oak stands by the gate."],
        ["current", "Plant an oak."],
    ]
    assert (ran.code, ran.err) == (0, "")


def test_chinese_is_found_and_json_says_where(coppice: Coppice, conversation: str) -> None:
    [hit] = json.loads(coppice("search", "登录", "--json").out)["hits"]
    assert (hit["conversationId"], hit["entryId"], hit["snippet"]) == (conversation, "e2", "然后修复登录页面")
    assert hit["onCurrentBranch"] is True


def test_a_conversation_elsewhere_is_searched_by_its_id(coppice: Coppice, tmp_path: Path, home: Path) -> None:
    (home / "other").mkdir()
    file = write_session(tmp_path / "s.jsonl", [user("Plant an oak.")])
    elsewhere = imported(coppice, file, "--workspace", home / "other")
    assert coppice("search", "oak").out == ""
    assert coppice("search", "oak", "--conversation", elsewhere).out.startswith(elsewhere)
    assert coppice("search", "oak", "--workspace", home / "other", "--limit", "1").out.startswith(elsewhere)
    refused = coppice("search", "oak", "--conversation", "nowhere")
    assert (refused.code, refused.out) == (1, "")


@pytest.mark.parametrize(("query", "code"), [("", 2), ("x" * 1001, 2), ("*?!", 0), ('"', 0), ("NEAR(", 0)])
def test_odd_queries_end_with_a_sentence_or_nothing(
    coppice: Coppice, conversation: str, query: str, code: int
) -> None:
    del conversation
    ran = coppice("search", "--", query)
    assert (ran.code, ran.out) == (code, "")
    assert len(ran.err.splitlines()) == (1 if code else 0)


def test_everything_is_copied_once_and_reads_the_same(coppice: Coppice, home: Path) -> None:
    ids = [imported(coppice, long_session(home, turns)) for turns in (2, 3)]
    ran = coppice("copy", "--to", home / "copies")
    assert ran.out == "2 conversations copied, 0 were there already\n"
    assert "Copying: 2 of 2 conversations" in ran.err
    trees = [coppice("tree", each, "--mode", "all", "--json").out for each in ids]
    (home / "stores").rename(home / "gone")
    assert coppice("copy", "--from", home / "copies").code == 0
    assert [coppice("tree", each, "--mode", "all", "--json").out for each in ids] == trees
    assert coppice("copy", "--from", home / "copies").out == "0 conversations copied, 2 were there already\n"


def test_what_the_target_lacks_is_reported_and_fails(coppice: Coppice, home: Path) -> None:
    conversation = imported(coppice, long_session(home, 20))
    assert coppice("copy", "--to", home / "copies").code == 0
    assert coppice("compact", conversation, "--keep-recent", "500").code == 0
    copied = coppice("copy", "--to", home / "copies", "--json")
    [left] = json.loads(copied.out)["conversations"]
    assert (copied.code, left["id"], left["outcome"], left["missing"]) == (1, conversation, "behind", 1)
    ran = coppice("copy", "--to", home / "copies")
    assert f"{conversation}: the target lacks its newest 1 entries" in ran.err
    assert ran.out == "0 conversations copied, 0 were there already, 1 were left as they are\n"


def test_a_workspace_is_named_by_its_folder_or_its_uri(coppice: Coppice, home: Path) -> None:
    (home / "other").mkdir()
    imported(coppice, long_session(home, 2))
    there = imported(coppice, long_session(home, 2), "--workspace", home / "other")
    for number, name in enumerate([str(home / "other"), (home / "other").as_uri() + "/"]):
        ran = coppice("copy", "--to", home / f"copies{number}", "--workspace", name, "--json")
        assert [each["id"] for each in json.loads(ran.out)["conversations"]] == [there]
    assert coppice("copy", "--to", home / "none", "--workspace", home / "work" / "never").code == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 2),
        (["--from", "nowhere"], 1),
        (["--to", "stores"], 1),
        (["--to", "mysql://me:s3cret@host/db"], 1),
        (["--to", "postgresql+psycopg://me:s3cret@127.0.0.1:1/db"], 1),
        (["--from", "postgresql+psycopg://me@127.0.0.1:1/db?password=s3cret", "--to", "copies"], 1),
    ],
)
def test_a_copy_that_cannot_be_made_says_why_and_shows_no_secret(
    coppice: Coppice, home: Path, arguments: list[str], code: int
) -> None:
    imported(coppice, long_session(home, 2))
    ran = coppice("copy", *(str(home / one) if one in ("stores", "copies") else one for one in arguments))
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.splitlines()[-1].startswith("coppice: ")
    assert "s3cret" not in ran.err


def test_a_store_that_fails_is_listed_without_its_password(
    coppice: Coppice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPPICE_STORAGE_URL", "postgresql+psycopg://me:s3cret@127.0.0.1:1?connect_timeout=1")
    ran = coppice("list", "--all")
    assert "127.0.0.1" in ran.err
    assert "s3cret" not in ran.err + ran.out


def test_the_history_of_a_session_file_answers_a_question(coppice: Coppice, tmp_path: Path) -> None:
    file = long_session(tmp_path, 5)
    ran = coppice("history", "search", file, "Where does part 3 stand?", "--max-tokens", "300")
    assert "[#e15]" in ran.out
    assert "Part 3 stands in src/part_3.py." in ran.out
    read = coppice("history", "read", file, "e15", "--json")
    [item] = json.loads(read.out)["items"]
    assert (item["entryId"], item["text"]) == ("e15", "Part 3 stands in src/part_3.py.")
    nothing = coppice("history", "search", file, "larch")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "coppice: warning: Nothing was found.\n")
    missing = coppice("history", "read", file, "nowhere")
    assert missing.code == 1
    assert missing.err == (
        "coppice: There is no such entry in this conversation. "
        "`coppice tree SOURCE --mode all` shows the ids.\n"
    )


def test_a_search_for_more_hits_than_it_gives_is_refused(coppice: Coppice) -> None:
    ran = coppice("search", "oak", "--limit", "1001")
    assert (ran.code, "less than or equal to 1000" in ran.err) == (2, True)
