"""`coppice sources`."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cli.conftest import Coppice
from session_samples import HEADER, message_record

from coppice.errors import StorageFailedError
from coppice.store.repair.transcripts import repair_transcripts
from coppice.store.transcript_catalog import TranscriptCatalog


@pytest.fixture(autouse=True)
def session(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR"):
        monkeypatch.setenv(variable, str(home / variable))
    path = home / "PI_CODING_AGENT_DIR" / "sessions" / "--work--" / "one.jsonl"
    path.parent.mkdir(parents=True)
    header = {**HEADER, "cwd": str((home / "work").resolve())}
    lines = [header, message_record("a", None), message_record("b", "a", "a juniper")]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_a_list_stores_nothing(coppice: Coppice, session: Path) -> None:
    (source,) = json.loads(coppice("sources", "--json").out)["sources"]
    assert (source["agent"], source["here"], source["stored"], source["waiting"]) == ("pi", 1, 0, 1)
    assert source["bytes"] == session.stat().st_size
    assert json.loads(coppice("list", "--json").out)["conversations"] == []


def test_an_update_makes_the_transcripts_searchable(coppice: Coppice) -> None:
    ran = coppice("sources", "--update")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "1 read: 1 new conversations, 0 that have grown.")
    assert "juniper" in coppice("search", "juniper").out
    (source,) = json.loads(coppice("sources", "--json").out)["sources"]
    assert (source["stored"], source["waiting"]) == (1, 0)


def test_the_agents_of_this_workspace_come_first(coppice: Coppice, home: Path) -> None:
    assert [each["agent"] for each in json.loads(coppice("sources", "--json").out)["sources"]] == ["pi"]
    thread = "019f0000-0000-7000-8000-00000000bbbb"
    path = home / "CODEX_HOME" / "sessions" / f"rollout-2026-10-01T10-00-00-{thread}.jsonl"
    path.parent.mkdir(parents=True)

    def agents(codex_in: Path) -> list[str]:
        record = {"type": "session_meta", "payload": {"id": thread, "cwd": str(codex_in)}}
        path.write_text(json.dumps(record))
        (home / "stores" / "transcripts.db").unlink(missing_ok=True)
        return [line.partition("\t")[0] for line in coppice("sources").out.splitlines()]

    assert agents(home / "elsewhere") == ["pi", "codex"]
    assert agents((home / "work").resolve()) == ["codex", "pi"]


def test_the_transcripts_of_other_folders_need_all(coppice: Coppice, home: Path) -> None:
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    here = json.loads(coppice("sources", "--update", "--workspace", elsewhere, "--json").out)
    assert (here["updated"]["read"], here["sources"][0]["here"]) == (0, 0)
    everywhere = json.loads(coppice("sources", "--update", "--all", "--workspace", elsewhere, "--json").out)
    assert everywhere["updated"]["created"] == 1


def test_an_agent_that_the_settings_leave_out_is_not_read(coppice: Coppice, home: Path) -> None:
    (home / "config" / "settings.toml").write_text('[sources]\nagents = ["codex"]\n', encoding="utf-8")
    assert coppice("sources").out == "No transcripts of other agents were found on this machine.\n"


def test_the_sessions_of_an_agent_that_is_switched_off_are_not_deleted(coppice: Coppice, home: Path) -> None:
    coppice("sources", "--update")
    (home / "config" / "settings.toml").write_text('[sources]\nagents = ["codex"]\n', encoding="utf-8")
    (source,) = json.loads(coppice("sources", "--json").out)["sources"]
    counts = (source["agent"], source["stored"], source["waiting"], source["deletedByAgent"])
    assert counts == ("pi", 1, 0, 0)


def test_another_folder_of_an_agent_is_named_in_the_settings(coppice: Coppice, home: Path) -> None:
    moved = home / "moved"
    (home / "PI_CODING_AGENT_DIR").rename(moved)
    assert coppice("sources").out.startswith("No transcripts")
    folders = f"[sources.folders]\npi = {json.dumps(str(moved))}\n"
    (home / "config" / "settings.toml").write_text(folders, encoding="utf-8")
    assert coppice("sources").out.startswith("pi\t")


def files_with(home: Path, word: str) -> list[str]:
    return [file.name for file in (home / "stores").rglob("*") if word.encode() in _bytes(file).lower()]


def _bytes(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""


@pytest.mark.parametrize("by", ["id", "--source", "--all"])
def test_what_is_forgotten_is_gone_from_the_disk_and_is_not_read_again(
    coppice: Coppice, home: Path, session: Path, by: str
) -> None:
    coppice("sources", "--update")
    coppice("search", "juniper")
    (conversation,) = json.loads(coppice("list", "--json").out)["conversations"]
    assert files_with(home, "juniper") != []
    named = {"id": [conversation["id"]], "--source": ["--source", "pi"], "--all": ["--all"]}[by]
    assert json.loads(coppice("forget", *named, "--yes", "--json").out) == {"forgotten": 1, "erased": True}
    assert files_with(home, "juniper") == []
    with session.open("a", encoding="utf-8") as file:
        file.write(json.dumps(message_record("c", "b", "more")) + "\n")
    coppice("sources", "--update")
    assert json.loads(coppice("list", "--json").out)["conversations"] == []
    assert json.loads(coppice("sources", "--json").out)["sources"] == []


def test_text_that_another_process_still_reads_is_named(
    coppice: Coppice, monkeypatch: pytest.MonkeyPatch
) -> None:
    coppice("sources", "--update")
    monkeypatch.setattr("coppice.store.store.Store.erase", lambda _store: False)
    ran = coppice("forget", "--all", "--yes", "--json")
    assert json.loads(ran.out) == {"forgotten": 1, "erased": False}
    assert "until all programs that use the store, such as an editor, have ended" in ran.err


def test_nothing_is_forgotten_without_a_yes(coppice: Coppice) -> None:
    coppice("sources", "--update")
    ran = coppice("forget", "--all")
    assert (ran.code, ran.err) == (2, "coppice: Nothing was deleted. Give --yes: it cannot be undone.\n")
    assert len(json.loads(coppice("list", "--json").out)["conversations"]) == 1


@pytest.mark.parametrize("arguments", [[], ["abcdef", "--all"], ["--source", "nobody"]])
def test_what_is_to_be_forgotten_is_named_once(coppice: Coppice, arguments: list[str]) -> None:
    assert coppice("forget", *arguments, "--yes").code == 2


def test_a_checkout_cannot_name_a_folder(coppice: Coppice, home: Path) -> None:
    (home / "work" / ".coppice").mkdir()
    settings = f"[sources.folders]\npi = {json.dumps(str(home / 'elsewhere'))}\n"
    (home / "work" / ".coppice" / "settings.toml").write_text(settings, encoding="utf-8")
    assert coppice("sources").out.startswith("pi\t")


def test_the_sessions_of_a_database_that_cannot_be_listed_are_not_deleted(
    coppice: Coppice, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_HOME", str(home / "hermes"))
    path = home / "hermes" / "state.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """CREATE TABLE sessions (id, parent_session_id, cwd, title, model, started_at);
            CREATE TABLE messages (id, session_id, role, content, tool_call_id, tool_calls, tool_name,
                timestamp, reasoning, reasoning_content, active, compacted);
            INSERT INTO sessions VALUES ('s', NULL, '/w', NULL, NULL, 1), ('t', NULL, '/w', NULL, NULL, 1);
            INSERT INTO messages (id, session_id, role, content, active) VALUES (1, 's', 'user', 'go', 1),
                (2, 't', 'user', 'go', 1);"""
        )
    coppice("sources", "--update", "--all")
    readable = path.read_bytes()
    path.write_bytes(b"no database" * 400)
    for options in ([], ["--update", "--all"]):
        ran = coppice("sources", "--json", *options)
        hermes = {each["agent"]: each for each in json.loads(ran.out)["sources"]}["hermes"]
        assert (hermes["conversations"], hermes["stored"], hermes["deletedByAgent"]) == (2, 2, 0)
        assert ran.err.count("state.db cannot be read") == 1
    path.write_bytes(readable)
    assert "state.db" not in coppice("sources", "--update", "--all").err
    path.unlink()
    sources = {each["agent"]: each for each in json.loads(coppice("sources", "--json").out)["sources"]}
    assert sources["hermes"]["deletedByAgent"] == 2


@pytest.mark.parametrize("damage", ["all", "a page"])
def test_a_damaged_record_of_readings_is_named_and_repaired(
    coppice: Coppice, home: Path, session: Path, damage: str
) -> None:
    for n in range(150):
        (session.parent / f"{n:03}.jsonl").write_bytes(session.read_bytes())
    coppice("sources", "--update")
    coppice("forget", "--source", "pi", "--yes")
    catalog = home / "stores" / "transcripts.db"
    with closing(sqlite3.connect(catalog)) as connection:
        connection.execute("VACUUM")  # no page is free then
    size = catalog.stat().st_size
    with catalog.open("r+b") as file:
        file.seek(0 if damage == "all" else size // 8192 * 4096)
        file.write(b"\x55" * (size if damage == "all" else 4096))
    assert "doctor --repair" in coppice("sources", "--update").err
    report = json.loads(coppice("doctor", "--json").out)
    assert any("transcripts.db" in each["message"] for each in report["checks"] if each["status"] == "broken")
    ran = coppice("doctor", "--repair", "--json")
    assert ran.code == 0
    (repair,) = [each for each in json.loads(ran.out)["checks"] if each["name"] == "repair"]
    saved = int(repair["message"].split("readings of ")[1].split()[0])
    assert saved == 0 if damage == "all" else 30 < saved < 151
    ran = coppice("sources", "--update", "--json")
    # What could be read of what was forgotten stays forgotten.
    assert json.loads(ran.out)["updated"]["created"] == 151 - saved
    assert [*catalog.parent.glob(".repair-*")] == []
    [aside] = catalog.parent.glob("transcripts.db.damaged-*[0-9]")
    killed = catalog.with_name(".repair-transcripts.db-x1")
    killed.mkdir()
    report = json.loads(coppice("doctor", "--json").out)
    left = [each["message"] for each in report["checks"] if each["name"] == "repairs"]
    assert [message.partition(":")[0] for message in left] == [killed.name, aside.name]


def test_what_repairs_of_the_record_left_is_named_where_a_server_holds_the_conversations(
    coppice: Coppice, home: Path
) -> None:
    (home / "config" / "settings.toml").write_text('[storage]\nurl = "sqlite:////no/such.sqlite3"\n')
    aside = home / "stores" / "transcripts.db.damaged-20261127T000000"
    aside.parent.mkdir(exist_ok=True)
    aside.touch()
    report = json.loads(coppice("doctor", "--json").out)
    [left] = [each for each in report["checks"] if each["name"] == "repairs"]
    assert left["message"].startswith(aside.name)


def test_blank_lines_before_the_first_record_hide_no_folder(coppice: Coppice, session: Path) -> None:
    session.write_bytes(b"\xef\xbb\xbf" + b"\r\n" * 500 + session.read_bytes())
    (source,) = json.loads(coppice("sources", "--json").out)["sources"]
    assert source["here"] == 1


def test_a_record_of_readings_that_is_in_use_is_not_repaired(coppice: Coppice, home: Path) -> None:
    coppice("sources", "--update")
    coppice("forget", "--source", "pi", "--yes")
    catalog = home / "stores" / "transcripts.db"
    with closing(sqlite3.connect(catalog, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageFailedError, match="open in another program"):
            repair_transcripts(catalog.parent)
    assert [each.forgotten for each in TranscriptCatalog(catalog.parent).readings().values()] == [True]
    assert [*catalog.parent.glob("transcripts.db.damaged-*")] == []
