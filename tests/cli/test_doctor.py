"""`coppice doctor` finds what is broken and says what to do."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cli.conftest import Coppice, start
from cli.sessions import long_session
from systems import needs_modes

from coppice.store.repair import copying


def checks(coppice: Coppice, *options: str, code: int = 0) -> dict[str, list[dict[str, Any]]]:
    ran = coppice("doctor", "--json", *options)
    assert ran.code == code, ran.out
    report = json.loads(ran.out)
    assert report["ok"] == (code == 0)
    checks_of: dict[str, list[dict[str, Any]]] = {}
    for check in report["checks"]:
        checks_of.setdefault(check["name"], []).append(check)
    return checks_of


def test_a_fresh_machine_is_well(coppice: Coppice) -> None:
    checks_of = checks(coppice)
    assert set(checks_of) == {
        "Python",
        "settings",
        "store",
        "permissions",
        "disk",
        "integrity",
        "tokenizer",
        "hooks",
        "summarizer",
    }
    assert {check["status"] for each in checks_of.values() for check in each} == {"ok"}


def test_looking_makes_nothing(coppice: Coppice, home: Path) -> None:
    checks(coppice)
    assert not (home / "stores").exists()


def test_the_tokenizer_is_tried(coppice: Coppice) -> None:
    assert "52 characters are 14 tokens" in checks(coppice)["tokenizer"][0]["message"]


def test_sound_stores_are_counted(coppice: Coppice, home: Path) -> None:
    for name in ("one", "two"):
        (home / name).mkdir()
        coppice("import", long_session(home, 2), "--workspace", home / name)
    assert checks(coppice)["integrity"][0]["message"] == "2 of 2 stores open and are sound"


@pytest.mark.parametrize("damage", ["another program's file", "a page overwritten"])
def test_a_damaged_store_is_named_and_the_others_counted(coppice: Coppice, home: Path, damage: str) -> None:
    coppice("import", long_session(home, 30))
    (store,) = (home / "stores").glob("*.sqlite3")
    if damage == "another program's file":
        store.write_bytes(b"not a database at all " * 1000)
    else:
        content = bytearray(store.read_bytes())
        content[8192:40960] = b"\xaa" * (40960 - 8192)
        store.write_bytes(content)
    broken = checks(coppice, code=1)["integrity"]
    assert [check["status"] for check in broken] == ["broken"]
    assert store.name in broken[0]["message"]
    assert broken[0]["advice"]


def test_a_value_that_is_no_setting_is_named(coppice: Coppice, home: Path) -> None:
    (home / "config" / "settings.toml").write_text('[compaction]\nreserveTokens = "many"\n')
    settings = checks(coppice)["settings"]
    assert [check["status"] for check in settings] == ["ok", "warning"]
    assert "compaction.reserveTokens" in settings[1]["message"]


def test_a_checkout_that_asks_for_too_much_is_reported(coppice: Coppice, home: Path) -> None:
    (home / "work" / ".coppice").mkdir()
    (home / "work" / ".coppice" / "settings.toml").write_text('[storage]\ndirectory = "/elsewhere"\n')
    settings = checks(coppice)["settings"]
    assert "storage.directory" in settings[1]["message"]
    assert str(home / "stores") in checks(coppice)["store"][0]["message"]


def test_a_store_others_may_read_is_reported(coppice: Coppice, home: Path) -> None:
    coppice("import", long_session(home, 2))
    (store,) = (home / "stores").glob("*.sqlite3")
    store.chmod(0o644)
    (check,) = checks(coppice)["permissions"]
    assert check["status"] == "warning"
    assert "chmod" in check["advice"]


def test_a_file_where_the_folder_should_be_is_broken(coppice: Coppice, home: Path) -> None:
    (home / "stores").write_text("in the way")
    (check,) = checks(coppice, code=1)["store"]
    assert "is no folder" in check["message"]


@needs_modes
def test_a_folder_that_cannot_be_written_is_broken(coppice: Coppice, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write everywhere but into the kernel's own folders."""
    monkeypatch.setenv("COPPICE_STORAGE_DIRECTORY", "/proc/self/task")
    (check,) = checks(coppice, code=1)["store"]
    assert "cannot be written to" in check["message"]


def test_a_folder_that_cannot_be_made_is_broken(
    coppice: Coppice, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPPICE_STORAGE_DIRECTORY", str(home / "file" / "below"))
    (home / "file").write_text("in the way")
    (check,) = checks(coppice, code=1)["store"]
    assert "cannot be made" in check["message"]


@pytest.mark.parametrize(("megabytes", "status"), [(1, "broken"), (999, "warning"), (1001, "ok")])
def test_a_disk_that_is_nearly_full_is_reported(
    coppice: Coppice, monkeypatch: pytest.MonkeyPatch, megabytes: int, status: str
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=megabytes * 1_000_000))
    (check,) = checks(coppice, code=int(status == "broken"))["disk"]
    assert (check["status"], check["message"]) == (status, f"{megabytes:,} MB free")


@pytest.mark.parametrize("url", ["postgresql://127.0.0.1:1/coppice", "mongodb://127.0.0.1/coppice"])
def test_a_database_server_that_cannot_be_used_is_broken(
    coppice: Coppice, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("COPPICE_STORAGE_URL", url)
    checks_of = checks(coppice, code=1)
    assert not {"store", "permissions", "disk"} & checks_of.keys()
    (check,) = checks_of["integrity"]
    assert "storage.url" in check["advice"]


def test_a_person_reads_a_line_for_each_check_and_what_to_do(coppice: Coppice, home: Path) -> None:
    (home / "stores").write_text("in the way")
    ran = coppice("doctor")
    assert ran.code == 1
    line, advice = [line for line in ran.out.splitlines() if "store" in line or "→" in line][:2]
    assert line.startswith("broken   store")
    assert advice.strip().startswith("→ ")


def damaged_store(coppice: Coppice, home: Path, begin: int, end: int) -> Path:
    """A store of one conversation, with other bytes from `begin` to below `end`."""
    coppice("import", long_session(home, 30))
    (store,) = (home / "stores").glob("*.sqlite3")
    content = bytearray(store.read_bytes())
    content[begin:end] = b"\xaa" * (end - begin)
    store.write_bytes(content)
    return store


def test_a_damaged_store_is_repaired_when_asked(coppice: Coppice, home: Path) -> None:
    damaged_store(coppice, home, 0, 4096)
    checks_of = checks(coppice, "--repair")
    assert [check["status"] for check in checks_of["repair"]] == ["ok"]
    assert "of 1 conversations saved" in checks_of["repair"][0]["message"]
    assert checks_of["integrity"][0]["message"] == "1 of 1 stores open and are sound"
    assert len(list((home / "stores").glob("*.damaged-*"))) == 1


@pytest.mark.parametrize("made_meanwhile", [False, True])
def test_what_a_killed_repair_left_is_named_and_comes_back_as_the_advice_says(
    coppice: Coppice, home: Path, monkeypatch: pytest.MonkeyPatch, *, made_meanwhile: bool
) -> None:
    class KilledError(BaseException):
        pass

    def kill(*_: object) -> None:
        raise KilledError

    store = damaged_store(coppice, home, 0, 4096)
    work = store.with_name(f".repair-{store.name}-x1")
    work.mkdir()
    with monkeypatch.context() as killed:
        killed.setattr(copying, "install", kill)
        with pytest.raises(KilledError):
            copying.repair(f"sqlite:///{store}")
    if made_meanwhile:
        coppice("import", long_session(home, 2))
        assert store.exists()

    left, damaged = checks(coppice)["repairs"]
    assert left["message"].startswith(f"{work.name}: ")
    aside = store.with_name(damaged["message"].partition(":")[0])
    [name] = re.findall(r"rename it to (\S+)", damaged["advice"])
    assert not store.with_name(name).exists()
    aside.rename(store.with_name(name))
    checks(coppice, "--repair")
    listed = json.loads(coppice("list", "--json").out)["conversations"]
    assert len(listed) == 1 + made_meanwhile


def test_no_advice_gives_the_name_of_a_file_that_is_there_or_one_name_twice(
    coppice: Coppice, home: Path
) -> None:
    store = damaged_store(coppice, home, 0, 4096)
    checks(coppice, "--repair")
    [older] = store.parent.glob("*.damaged-*")
    newer = store.with_name(f"{store.name}.damaged-99991231T000000")
    newer.write_bytes(older.read_bytes())
    advice = [each["advice"] for each in checks(coppice)["repairs"]]
    assert f"begin with {newer.name}" in advice[0]
    [name] = re.findall(r"rename it to (\S+)", "".join(advice))
    newer.rename(store.with_name(name))
    assert "rename it" not in checks(coppice, code=1)["repairs"][0]["advice"]
    checks(coppice, "--repair")
    assert not store.with_name(name).exists()
    advice = [each["advice"] for each in checks(coppice)["repairs"]]
    assert re.findall(r"rename it to (\S+)", "".join(advice)) == [name]


def test_what_a_repair_cannot_save_is_named(coppice: Coppice, home: Path) -> None:
    damaged_store(coppice, home, 8192, 40960)
    repair = checks(coppice, "--repair")["repair"]
    assert "of 1 conversations saved" in repair[0]["message"]
    assert {check["status"] for check in repair[1:]} == {"warning"}
    assert all("lost:" in check["message"] for check in repair[1:])


def test_a_store_in_use_is_not_repaired(coppice: Coppice, home: Path) -> None:
    store = damaged_store(coppice, home, 8192, 40960)
    content = store.read_bytes()
    with closing(sqlite3.connect(store)) as other:
        other.execute("BEGIN IMMEDIATE")
        repair = checks(coppice, "--repair", code=1)["repair"]
    assert [check["status"] for check in repair] == ["broken"]
    assert store.read_bytes() == content


def settings(home: Path, text: str) -> None:
    (home / "config" / "settings.toml").write_text(text)


def test_the_tokenizer_is_not_tried_where_tokens_are_estimated(coppice: Coppice, home: Path) -> None:
    settings(home, '[tokens]\ncounter = "estimate"\n')
    assert checks(coppice)["tokenizer"][0]["message"] == "not used: tokens.counter is `estimate`"


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ('provider = "editor"', "ok", "the editor's own model"),
        ('provider = "openai"', "warning", "openai: it cannot be used"),
        (
            'provider = "openai"\nname = "oak"\ncontextWindow = 9000',
            "ok",
            "9,000 tokens (set by the settings)",
        ),
        ('provider = "openai"\nname = "oak"\nbaseUrl = "http://127.0.0.1:1/v1"', "ok", "assumed; not given"),
    ],
)
def test_who_writes_summaries_is_named(
    coppice: Coppice, home: Path, text: str, status: str, message: str
) -> None:
    settings(home, f"[summarizer]\n{text}\n")
    first, last = checks(coppice)["summarizer"]
    assert first["status"] == status
    assert message in first["message"]
    assert (first["advice"] is None) == (status == "ok")
    assert last["message"].startswith("offline")


@pytest.mark.parametrize(("counter", "status"), [("auto", "warning"), ("tiktoken", "broken")])
def test_a_tokenizer_that_is_not_installed_is_reported(
    home: Path, monkeypatch: pytest.MonkeyPatch, counter: str, status: str
) -> None:
    settings(home, f'[tokens]\ncounter = "{counter}"\n')
    instead = home / "packages" / "tiktoken_ext"  # the package that the tokenizers are modules of
    instead.mkdir(parents=True)
    (instead / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(instead.parent))
    with start("doctor", "--json") as process:
        out, _ = process.communicate()
    assert process.returncode == int(status == "broken")
    (check,) = [each for each in json.loads(out)["checks"] if each["name"] == "tokenizer"]
    assert (check["status"], "tokens are estimated" in check["message"]) == (status, True)
