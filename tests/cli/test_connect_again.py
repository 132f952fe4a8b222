"""`coppice connect` after it: in another folder, without its backup, next to hooks of the user's."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Coppice
from systems import needs_hooks, needs_links

WORK = '{"oauthAccount": "work", "mcpServers": {"w": {"command": "x", "env": {"KEY": "k-work"}}}}'
PRIVATE = '{"oauthAccount": "private", "mcpServers": {"p": {"command": "y"}}}'


@pytest.fixture(autouse=True)
def config(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of Claude Code's configuration that `CLAUDE_CONFIG_DIR` names."""
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(home))
    monkeypatch.setenv("PATH", str(home / "nothing"))
    return use(home, "claude-work", WORK, monkeypatch)


def use(home: Path, name: str, state: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes a folder of Claude Code's configuration, and names it."""
    folder = home / name
    folder.mkdir()
    (folder / ".claude.json").write_text(state)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    return folder


def connect(coppice: Coppice, *options: str) -> str:
    ran = coppice("connect", *options, "claude-code")
    assert (ran.code, ran.err) == (0, "")
    return ran.out


def record_as_before(agents: Path) -> None:
    """Records and names backups as versions did that gave each folder's the same names, without digests."""
    record = json.loads((agents / "connections.json").read_text())
    for agent, entries in record.items():
        for number, entry in enumerate(entries.values()):
            if entry.pop("backup_digest", None):
                (agents / entry["backup"]).replace(agents / f"{agent}-{number}.backup")
                entry["backup"] = f"{agent}-{number}.backup"
    (agents / "connections.json").write_text(json.dumps(record))


def test_two_folders_of_one_agent_keep_their_own(
    coppice: Coppice, config: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(coppice)
    connected = (config / ".claude.json").read_text()
    private = use(home, "claude-private", PRIVATE, monkeypatch)
    assert "run `coppice connect" not in coppice("status").out
    connect(coppice)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(config))
    assert "there is nothing to change" in connect(coppice)
    assert (config / ".claude.json").read_text() == connected
    connect(coppice, "--remove")
    assert (config / ".claude.json").read_text() == WORK
    assert "k-work" not in (private / ".claude.json").read_text()
    script = home / "config" / "agents" / "claude-code-hook.sh"
    assert script.exists(), "the hooks of the other folder run it"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(private))
    assert "there is nothing to change" in connect(coppice)
    connect(coppice, "--remove")
    assert (private / ".claude.json").read_text() == PRIVATE
    assert not script.exists()
    assert json.loads((home / "config" / "agents" / "connections.json").read_text()) == {}


@pytest.mark.parametrize("what", ["gone", "another", "of an earlier version"])
@pytest.mark.parametrize("options", [[], ["--remove"]])
def test_a_file_whose_backup_is_lost_is_neither_emptied_nor_deleted(
    coppice: Coppice, config: Path, home: Path, what: str, options: list[str]
) -> None:
    connect(coppice)
    agents = home / "config" / "agents"
    (backup,) = agents.glob("*.backup")
    if what == "gone":
        backup.unlink()
    else:
        backup.write_text(PRIVATE)
    if what == "of an earlier version":
        record_as_before(agents)
    connect(coppice, *options)
    assert "private" not in "".join(each.read_text() for each in agents.glob("*.backup"))
    state = json.loads((config / ".claude.json").read_text())
    assert (state["mcpServers"].pop("coppice", None) is None) == bool(options)
    assert state == json.loads(WORK)


@pytest.mark.parametrize(
    ("agent", "name", "before"),
    [
        ("claude-code", "claude-work/.claude.json", '{"k":1,"mcpServers":{}}'),
        ("hermes", ".hermes/config.yaml", "context:\n  engine: compressor # mine\n"),
    ],
)
@pytest.mark.parametrize("again", [False, True])
def test_what_an_earlier_version_connected_comes_back_byte_for_byte(
    coppice: Coppice, home: Path, agent: str, name: str, before: str, *, again: bool
) -> None:
    agents = home / "config" / "agents"
    (home / name).parent.mkdir(exist_ok=True)
    (home / name).write_text(before)
    coppice("connect", agent)
    record_as_before(agents)
    if again:
        coppice("connect", agent)
    assert coppice("connect", "--remove", agent).code == 0
    assert (home / name).read_text() == before
    assert not [*agents.glob("*.backup")]


def test_folders_that_shared_a_backup_keep_their_own(
    coppice: Coppice, config: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(coppice)
    record_as_before(home / "config" / "agents")
    private = use(home, "claude-private", PRIVATE, monkeypatch)
    connect(coppice)
    record_as_before(home / "config" / "agents")
    record = json.loads((home / "config" / "agents" / "connections.json").read_text())
    shared = record["claude-code"][str(private / ".claude.json")]["backup"]
    record["claude-code"][str(config / ".claude.json")]["backup"] = shared
    (home / "config" / "agents" / "connections.json").write_text(json.dumps(record))
    for folder, state in ((private, PRIVATE), (config, WORK)):
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
        connect(coppice)
        assert (home / "config" / "agents" / shared).exists() == (folder == private)
        connect(coppice, "--remove")
        assert (folder / ".claude.json").read_text() == state


@needs_links
def test_a_folder_that_a_link_leads_to_stays(coppice: Coppice, home: Path) -> None:
    theirs, engine = home / "project", home / ".hermes" / "plugins" / "coppice"
    for name in ("package/__pycache__/notes.txt", "__pycache__/a.pyc", "empty/.a"):
        (theirs / name).parent.mkdir(parents=True)
        (theirs / name).touch()
    (theirs / "empty" / ".a").unlink()
    before = sorted(theirs.rglob("*"))
    engine.parent.mkdir(parents=True)
    engine.symlink_to(theirs)
    coppice("connect", "hermes")
    assert sorted(theirs.rglob("*")) != before
    assert coppice("connect", "--remove", "hermes").code == 0
    assert sorted(theirs.rglob("*")) == before


@pytest.mark.parametrize("name", ["notes.txt", "package/__pycache__/notes.txt"])
def test_what_is_not_compiled_stays(coppice: Coppice, home: Path, name: str) -> None:
    coppice("connect", "hermes")
    theirs = home / ".hermes" / "plugins" / "coppice" / "__pycache__" / name
    theirs.parent.mkdir(parents=True)
    theirs.touch()
    assert coppice("connect", "--remove", "hermes").code == 0
    assert theirs.exists()


@pytest.mark.parametrize("options", [[], ["--remove"]])
@pytest.mark.parametrize(
    "entries",
    [
        [],
        {"x": 5},
        {"x": {}},
        {"x": {"backup": 5, "digest": ""}},
        {"x": {"backup": None, "digest": "", "folders": 5}},
        {"x": {"backup": None, "digest": "", "folders": [5]}},
        {"x": {"backup": "../../mine.backup", "digest": ""}},
    ],
)
def test_a_record_of_another_form_is_refused(
    coppice: Coppice, config: Path, home: Path, entries: object, options: list[str]
) -> None:
    record, mine = home / "config" / "agents" / "connections.json", home / "mine.backup"
    record.parent.mkdir()
    record.write_text(json.dumps({"claude-code": entries}))
    mine.write_text(PRIVATE)
    ran = coppice("connect", *options, "claude-code")
    assert (ran.code, f"{record} is no record of connections. Move it away." in ran.err) == (1, True)
    assert (mine.read_text(), (config / ".claude.json").read_text()) == (PRIVATE, WORK)
    assert coppice("status").code == 0


@pytest.mark.parametrize("text", ["[]", "{", "[" * 100_000])
def test_a_record_that_is_no_object_is_refused(coppice: Coppice, home: Path, text: str) -> None:
    record = home / "config" / "agents" / "connections.json"
    record.parent.mkdir()
    record.write_text(text)
    assert "no record of connections" in coppice("connect", "claude-code").err
    assert record.read_text() == text


def test_a_path_of_the_record_that_no_file_can_have_holds_nothing_back(coppice: Coppice, home: Path) -> None:
    connect(coppice)
    file = home / "config" / "agents" / "connections.json"
    record = json.loads(file.read_text())
    for entry in record["claude-code"].values():
        entry["folders"] = ["\0"]
    record["claude-code"]["\0"] = {"backup": None, "digest": ""}
    file.write_text(json.dumps(record))
    connect(coppice, "--remove")


def a_second_folder_that_is_gone(coppice: Coppice, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    connect(coppice)
    private = use(home, "claude-private", PRIVATE, monkeypatch)
    connect(coppice)
    shutil.rmtree(private)
    return private


def test_a_folder_that_is_gone_holds_nothing_back(
    coppice: Coppice, config: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_second_folder_that_is_gone(coppice, home, monkeypatch)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(config))
    connect(coppice, "--remove")
    agents = home / "config" / "agents"
    assert json.loads((agents / "connections.json").read_text()) == {}
    assert not [*agents.glob("*.backup"), *agents.glob("*.sh")]


def test_a_configuration_whose_link_leads_nowhere_now_is_not_gone(
    coppice: Coppice, config: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = a_second_folder_that_is_gone(coppice, home, monkeypatch)
    private.mkdir()
    (private / ".claude.json").symlink_to(home / "unmounted" / ".claude.json")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(config))
    connect(coppice, "--remove")
    agents = home / "config" / "agents"
    record = json.loads((agents / "connections.json").read_text())
    assert str(private / ".claude.json") in record["claude-code"]
    assert "private" in "".join(each.read_text() for each in agents.glob("*.backup"))


@needs_hooks
@pytest.mark.parametrize("options", [[], ["--remove"]])
def test_hooks_and_permissions_of_the_user_stay(coppice: Coppice, config: Path, options: list[str]) -> None:
    file = config / "settings.json"
    own = {"hooks": [{"type": "command", "command": "/home/me/bin/my-claude-code-hook.sh save"}]}
    file.write_text(json.dumps({"hooks": {"PreCompact": [own]}}))
    connect(coppice)
    settings: dict[str, Any] = json.loads(file.read_text())
    assert settings["hooks"]["PreCompact"][0] == own
    added = {"type": "command", "command": "/home/me/bin/load-notes"}
    settings["hooks"]["SessionStart"][0]["hooks"].append(added)
    settings["permissions"]["allow"].append("mcp__coppice__note_add")
    file.write_text(json.dumps(settings))
    connect(coppice, *options)
    settings = json.loads(file.read_text())
    assert settings["hooks"]["PreCompact"][0] == own
    assert settings["hooks"]["SessionStart"][0] == {"matcher": "compact", "hooks": [added]}
    assert "mcp__coppice__note_add" in settings["permissions"]["allow"]
    commands = [hook["command"] for group in settings["hooks"]["SessionStart"] for hook in group["hooks"]]
    assert len(commands) == (1 if options else 2)


@needs_hooks
@pytest.mark.parametrize("name", ["moved", "it's moved"])
def test_hooks_of_another_folder_of_coppice_are_replaced_and_removed(
    coppice: Coppice, config: Path, home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    own = {"hooks": [{"type": "command", "command": f"sh {home}/agents/claude-code-hook.sh"}]}
    before = {"hooks": {"PreCompact": [own]}}
    (config / "settings.json").write_text(json.dumps(before))
    for variable in ("COPPICE_CONFIG_DIRECTORY", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
    folders = [home / name, home / "now"]
    for folder in folders:
        monkeypatch.setenv("HOME", str(folder))
        connect(coppice)
    hooks = json.loads((config / "settings.json").read_text())["hooks"]
    assert hooks["PreCompact"][0] == own
    assert [len(groups) for groups in hooks.values()] == [2, 1]
    assert str(folders[1]) in json.dumps(hooks["SessionStart"])
    monkeypatch.setenv("HOME", str(folders[0]))
    connect(coppice, "--remove")
    assert json.loads((config / "settings.json").read_text()) == before
