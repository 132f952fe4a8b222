"""`coppice connect`: what is changed in the files of agents, and that it can be taken back."""

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest
from cli.conftest import Coppice
from systems import needs_hooks, needs_modes

CLAUDE = '{\n  "numStartups": 3,\n  "mcpServers": {\n    "other": {"command": "x"}\n  }\n}\n'
SETTINGS = '{\n  "permissions": {\n    "allow": ["Bash(ls)"]\n  }\n}\n'
CODEX = '# mine\nmodel = "m"\n\n[mcp_servers.other]\ncommand = "x"\n'
OPENCODE = '{\n  // mine\n  "model": "m", // and this\n}\n'
OPENCLAW = """{
  // mine
  agents: { defaults: { workspace: '~/claw', }, },
}
"""
HERMES = "# mine\nmodel:\n  default: m\n"
AGENTS = ("claude-code", "codex", "pi", "opencode", "copilot", "gemini", "hermes", "openclaw")


@pytest.fixture(autouse=True)
def files(home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """The files of a user of all agents, none of which is installed."""
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(home))
    monkeypatch.setenv("PATH", str(home / "nothing"))
    variables = (
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "PI_CODING_AGENT_DIR",
        "XDG_CONFIG_HOME",
        "HERMES_HOME",
        "OPENCLAW_STATE_DIR",
        "OPENCLAW_CONFIG_PATH",
    )
    for variable in variables:
        monkeypatch.delenv(variable, raising=False)
    paths = {
        "claude": home / ".claude.json",
        "settings": home / ".claude" / "settings.json",
        "codex": home / ".codex" / "config.toml",
        "opencode": home / ".config" / "opencode" / "opencode.jsonc",
        "hermes": home / ".hermes" / "config.yaml",
        "openclaw": home / ".openclaw" / "openclaw.json",
        "engine": home / ".hermes" / "plugins" / "coppice" / "__init__.py",
        "plugin": home / ".config" / "opencode" / "plugin" / "coppice.ts",
        "mod": home / ".claude" / "skills" / "coppice" / "hooks" / "coppice.ts",
        "pi": home / ".pi" / "agent" / "extensions" / "coppice.ts",
    }
    for name, text in (
        ("claude", CLAUDE),
        ("settings", SETTINGS),
        ("codex", CODEX),
        ("opencode", OPENCODE),
        ("hermes", HERMES),
        ("openclaw", OPENCLAW),
    ):
        paths[name].parent.mkdir(parents=True, exist_ok=True)
        paths[name].write_text(text, encoding="utf-8")
    paths["pi"].parent.parent.mkdir(parents=True)
    return paths


def texts(files: dict[str, Path]) -> dict[str, str | None]:
    return {name: path.read_text() if path.exists() else None for name, path in files.items()}


def test_each_agent_gets_the_server_and_keeps_its_own(coppice: Coppice, files: dict[str, Path]) -> None:
    ran = coppice("connect", *AGENTS)
    assert (ran.code, ran.err) == (0, "")
    claude = json.loads(files["claude"].read_text())
    assert (claude["numStartups"], list(claude["mcpServers"])) == (3, ["other", "coppice"])
    server = claude["mcpServers"]["coppice"]
    assert (server["type"], server["args"][-1], server["alwaysLoad"]) == ("stdio", "mcp", True)
    assert os.access(server["command"], os.X_OK)
    allowed = json.loads(files["settings"].read_text())["permissions"]["allow"]
    assert allowed[:2] == ["Bash(ls)", "mcp__coppice__history_search"]
    assert "mcp__coppice__note_add" not in allowed
    codex = tomllib.loads(files["codex"].read_text())
    assert codex["mcp_servers"]["coppice"]["args"] == server["args"]
    assert files["codex"].read_text().startswith(CODEX)
    opencode = files["opencode"].read_text()
    assert "// mine" in opencode
    assert '"model": "m", // and this' in opencode
    assert "history_search" in files["pi"].read_text()
    assert files["hermes"].read_text().startswith(HERMES)
    compile(files["engine"].read_text(), "engine", "exec")


def test_taking_it_back_restores_every_byte(coppice: Coppice, files: dict[str, Path]) -> None:
    before = texts(files)
    coppice("connect", *AGENTS)
    assert texts(files) != before
    assert coppice("connect", "--remove", *AGENTS).code == 0
    assert texts(files) == before


def test_a_file_that_was_made_goes_again(coppice: Coppice, files: dict[str, Path]) -> None:
    for path in files.values():
        path.unlink(missing_ok=True)
    coppice("connect", *AGENTS)
    assert None not in texts({**files, "opencode": files["opencode"].with_suffix(".json")}).values()
    coppice("connect", "--remove", *AGENTS)
    assert set(texts(files).values()) == {None}


@pytest.mark.parametrize("times", [1, 2])
def test_an_agent_that_is_not_there_leaves_no_folder(coppice: Coppice, home: Path, times: int) -> None:
    for _ in range(times):
        assert coppice("connect", "copilot", "--json").code == 0
    assert (home / ".copilot" / "mcp-config.json").exists()
    assert coppice("connect", "copilot", "--remove").code == 0
    assert not (home / ".copilot").exists()


def test_a_made_folder_with_files_of_others_stays(coppice: Coppice, home: Path) -> None:
    coppice("connect", "copilot")
    other = home / ".copilot" / "other.json"
    other.write_text("{}")
    coppice("connect", "copilot", "--remove")
    assert [*(home / ".copilot").iterdir()] == [other]


def test_what_others_wrote_meanwhile_stays(coppice: Coppice, files: dict[str, Path]) -> None:
    coppice("connect", *AGENTS)
    claude = json.loads(files["claude"].read_text())
    files["claude"].write_text(json.dumps({**claude, "numStartups": 4}))
    with files["codex"].open("a") as file:
        file.write('\n[mcp_servers.later]\ncommand = "y"\n')
    coppice("connect", "--remove", *AGENTS)
    assert json.loads(files["claude"].read_text()) == {**json.loads(CLAUDE), "numStartups": 4}
    assert list(tomllib.loads(files["codex"].read_text())["mcp_servers"]) == ["other", "later"]
    assert files["codex"].read_text().startswith(CODEX)


def test_a_folder_of_ours_goes_unless_others_put_something_there(
    coppice: Coppice, files: dict[str, Path]
) -> None:
    plugin, engine = files["mod"].parents[1], files["engine"].parent
    coppice("connect", "claude-code", "hermes")
    (engine / "__pycache__").mkdir()
    (engine / "__pycache__" / "x.pyc").touch()
    (plugin / "SKILL.md").write_text("mine")
    coppice("connect", "--remove", "claude-code", "hermes")
    assert not engine.exists()
    assert [path.name for path in plugin.rglob("*")] == ["SKILL.md"]


def test_connecting_twice_changes_nothing_and_keeps_the_backup(
    coppice: Coppice, files: dict[str, Path]
) -> None:
    before = texts(files)
    coppice("connect", *AGENTS)
    once = texts(files)
    assert "there is nothing to change" in coppice("connect", *AGENTS).out
    assert texts(files) == once
    coppice("connect", "--remove", *AGENTS)
    assert texts(files) == before


@needs_hooks
def test_a_hook_that_imports_from_the_project_is_written_anew(coppice: Coppice, home: Path) -> None:
    scripts = home / "config" / "agents"
    agents = {name: scripts / f"{name}-hook.sh" for name in ("claude-code", "codex", "copilot", "gemini")}
    coppice("connect", *agents)
    connected = texts(agents)
    for path in agents.values():
        path.write_text(path.read_text().replace(" -P -m coppice.agents.hook ", " -m coppice.agents.hook "))
    assert texts(agents) != connected
    rows = json.loads(coppice("status", "--json").out)["agents"]
    assert not any(row["connected"] for row in rows)
    assert coppice("connect", *agents).code == 0
    assert texts(agents) == connected
    assert all(os.access(path, os.X_OK) for path in agents.values())
    coppice("connect", "--remove", *agents)
    assert not any(path.exists() for path in agents.values())


@pytest.mark.parametrize("agent", ["codex", "copilot", "gemini"])
def test_an_agent_whose_shell_starts_no_scripts_gets_the_server_alone(
    coppice: Coppice, home: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    monkeypatch.setattr(f"coppice.agents.{agent}.starts_scripts", lambda: False)
    assert coppice("connect", agent).code == 0
    written = [path.read_text() for path in (home / f".{agent}").rglob("*") if path.is_file()]
    assert any('"mcp"' in text for text in written)
    assert not any("hook" in text for text in written)
    assert not (home / "config" / "agents" / f"{agent}-hook.sh").exists()


def test_a_dry_run_shows_and_writes_nothing(coppice: Coppice, files: dict[str, Path], home: Path) -> None:
    before = texts(files)
    ran = coppice("connect", "--dry-run", *AGENTS)
    assert texts(files) == before
    assert "+[mcp_servers.coppice]" in ran.out
    assert f"{files['pi']}\n    an extension" in ran.out
    assert "class Server" not in ran.out, "the extension's hundreds of lines hide the rest"
    assert not (home / "config" / "agents").exists()


def test_all_means_those_that_there_are(coppice: Coppice, files: dict[str, Path]) -> None:
    files["codex"].unlink()
    files["codex"].parent.rmdir()
    made = json.loads(coppice("connect", "--all", "--json").out)["agents"]
    assert [each["agent"] for each in made] == ["claude-code", "pi", "opencode", "hermes", "openclaw"]


def test_a_file_that_cannot_be_edited_is_left_and_the_others_are_done(
    coppice: Coppice, files: dict[str, Path]
) -> None:
    files["codex"].write_text("not = [toml")
    ran = coppice("connect", "codex", "opencode")
    assert ran.code == 1
    assert ran.err.startswith("coppice: Codex: ")
    assert files["codex"].read_text() == "not = [toml"
    assert "coppice" in files["opencode"].read_text()


def test_a_server_that_the_user_configured_is_not_doubled(coppice: Coppice, files: dict[str, Path]) -> None:
    own = f'{CODEX}\n[mcp_servers.coppice]\ncommand = "mine"\n'
    files["codex"].write_text(own)
    assert "There is a table [mcp_servers.coppice] already" in coppice("connect", "codex").err
    assert files["codex"].read_text() == own


@pytest.mark.parametrize(
    ("agent", "name", "own"),
    [
        ("claude-code", "claude", '{"mcpServers": {"coppice": {"command": "mine"}}, "numStartups": 3}\n'),
        ("openclaw", "openclaw", "{mcp: {servers: {coppice: {command: 'mine'}}}}\n"),
        ("hermes", "hermes", "mcp_servers:\n  coppice:\n    command: mine\n"),
        ("pi", "pi", "// mine\n"),
    ],
)
def test_what_the_user_named_coppice_is_neither_replaced_nor_removed(
    coppice: Coppice, files: dict[str, Path], agent: str, name: str, own: str
) -> None:
    files[name].parent.mkdir(parents=True, exist_ok=True)
    files[name].write_text(own)
    before = texts(files)
    ran = coppice("connect", agent)
    assert ran.code == 1
    assert "did not write. Rename it or take it out, then connect again." in ran.err
    assert texts(files) == before
    coppice("connect", "--remove", agent)
    assert texts(files) == before


@needs_modes
def test_links_and_rights_stay(coppice: Coppice, files: dict[str, Path], home: Path) -> None:
    real = home / "dotfiles.toml"
    files["codex"].rename(real)
    real.chmod(0o640)
    files["codex"].symlink_to(real)
    coppice("connect", "codex")
    assert files["codex"].is_symlink()
    assert "coppice" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_nothing_is_asked_without_a_terminal(coppice: Coppice, files: dict[str, Path]) -> None:
    before = texts(files)
    ran = coppice("connect")
    assert ran.code == 2
    assert "claude-code, codex, pi, opencode, hermes, openclaw installed" in ran.err
    assert coppice("connect", "vim").code == 2
    assert texts(files) == before


def test_a_person_is_asked_for_each_agent_that_would_be_changed(
    coppice: Coppice, files: dict[str, Path]
) -> None:
    coppice("connect", "claude-code", "pi", "hermes", "openclaw")
    ran = coppice("connect", stdin=b"n\ny\n", is_terminal=True)
    assert ran.code == 0
    assert ran.out.startswith(
        "Installed: Claude Code, Codex, Pi, opencode, Hermes, OpenClaw\n"
        "Connected: Claude Code, Pi, Hermes, OpenClaw\n"
        "Not installed: Copilot CLI, Gemini CLI\n"
    )
    assert ran.out.count("[Y/n]") == 2
    assert files["codex"].read_text() == CODEX
    assert "coppice" in files["opencode"].read_text()


def test_what_another_version_wrote_is_named_renewed_and_removed(
    coppice: Coppice, files: dict[str, Path]
) -> None:
    before = texts(files)
    coppice("connect", "pi", "claude-code")
    for name in ("pi", "mod"):
        files[name].write_text(f"// of another version\n{files[name].read_text()}")
    (row,) = (row for row in json.loads(coppice("status", "--json").out)["agents"] if row["agent"] == "pi")
    assert (row["connected"], row["outdated"]) == (False, True)
    assert "run `coppice connect pi`" in coppice("status").out
    coppice("connect", "pi")
    assert "Pi: connected" in coppice("status").out
    files["pi"].write_text(f"// of another version\n{files['pi'].read_text()}")
    assert coppice("connect", "--remove", "--all").code == 0
    assert texts(files) == before


LOG = """\
2026-11-24T10:00:00+00:00 pi failure: TimeoutError: earlier
2026-11-25T10:00:00+00:00 pi compaction: summary by Coppice: 30,512 tokens before, 4,100 after
2026-11-25T11:00:00.123Z codex compaction: 900 tokens added to the summary (User Messages 500, State 300)
2026-11-25T12:00:00+00:00 codex failure: no answer within 25 seconds
2026-11-25T12:30:00.000Z pi branch: summary by Coppice
no line of ours
"""


def test_the_status_shows_the_last_compaction_and_what_failed_since(coppice: Coppice, home: Path) -> None:
    log = home / "config" / "agents" / "hooks.log"
    log.parent.mkdir()
    log.write_text(LOG)
    out = coppice("status").out
    assert "last compaction: 2026-11-25 10:00 summary by Coppice: 30,512 tokens before, 4,100 after\n" in out
    assert "last compaction: 2026-11-25 11:00 900 tokens added to the summary (User Messages 500" in out
    assert "failed since: 2026-11-25 12:00 no answer within 25 seconds\n" in out
    assert "last branch summary: 2026-11-25 12:30 summary by Coppice\n" in out
    assert "TimeoutError" not in out, "a compaction after it succeeded"


def test_the_status_names_what_is_connected(coppice: Coppice) -> None:
    coppice("connect", "codex")
    rows = {row["agent"]: row for row in json.loads(coppice("status", "--json").out)["agents"]}
    assert {name: row["connected"] for name, row in rows.items()} == {
        name: name == "codex" for name in AGENTS
    }
    assert "Codex: connected; 0 transcripts" in coppice("status").out


def test_openclaw_searches_the_history_of_its_workspace(
    coppice: Coppice, files: dict[str, Path], home: Path
) -> None:
    coppice("connect", "openclaw")
    text = files["openclaw"].read_text()
    assert text.startswith(OPENCLAW[:-4])
    assert json.dumps(str(home / "claw")) in text
    files["openclaw"].unlink()
    coppice("connect", "openclaw")
    server = json.loads(files["openclaw"].read_text())["mcp"]["servers"]["coppice"]
    assert server["args"][-2:] == ["--workspace", str(home / ".openclaw" / "workspace")]


def test_another_context_engine_of_hermes_stays(coppice: Coppice, files: dict[str, Path]) -> None:
    files["hermes"].write_text("context:\n  engine: lcm\n")
    coppice("connect", "hermes")
    text = files["hermes"].read_text()
    assert "  engine: lcm\n" in text
    assert "mcp_servers:" in text
    assert not files["engine"].exists()
    assert "Its context engine is lcm" in coppice("status").out
    coppice("connect", "--remove", "hermes")
    assert files["hermes"].read_text() == "context:\n  engine: lcm\n"


def test_an_engine_of_hermes_that_was_chosen_meanwhile_stays_and_ours_goes(
    coppice: Coppice, files: dict[str, Path]
) -> None:
    coppice("connect", "hermes")
    files["hermes"].write_text(files["hermes"].read_text().replace("engine: coppice", "engine: lcm"))
    assert coppice("connect", "--remove", "hermes").code == 0
    assert files["hermes"].read_text() == f"{HERMES}context:\n  engine: lcm\n"
    assert not files["engine"].exists()


def test_a_configuration_of_hermes_in_flow_style_stays(coppice: Coppice, files: dict[str, Path]) -> None:
    files["hermes"].write_text("{model: {default: m}}\n")
    ran = coppice("connect", "hermes")
    assert ran.code == 1
    assert "Change mcp_servers.coppice by hand." in ran.err
    assert files["hermes"].read_text() == "{model: {default: m}}\n"
    assert not files["engine"].exists()
