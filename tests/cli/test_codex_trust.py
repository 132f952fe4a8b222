"""`coppice status` says whether Codex runs our hook: it runs what the user approved as it is now."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from cli.conftest import Coppice
from systems import needs_hooks

pytestmark = needs_hooks

UNTRUSTED = "Its hook is not trusted as it is now"
OTHERS = (
    '[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = "command"\ncommand = "mine"\n',
    '[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = "prompt"\n',
    "[[hooks.SessionStart]]\nhooks = []\n",
    "[[hooks.SessionStart]]\n",
)


@pytest.fixture(autouse=True)
def file(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODEX_HOME", str(home / "codex"))
    (home / "codex").mkdir()
    return home / "codex" / "config.toml"


@pytest.fixture
def approve(file: Path) -> Callable[..., None]:
    """Records what Codex records when the user approves the hook at a place."""

    def approving(hash_: str, place: int = 0, *more: str) -> None:
        lines = [f'[hooks.state."{file}:session_start:{place}:0"]', f'trusted_hash = "{hash_}"', *more]
        file.write_text("\n".join([file.read_text(), *lines, ""]))

    return approving


def hash_of(command: Path, *, timeout: int = 30) -> str:
    """As Codex 0.169 computes it, which tests/real_agents/test_codex_trust.py asks itself."""
    text = (
        f'{{"event_name":"session_start","hooks":[{{"async":false,"command":{json.dumps(str(command))},'
        f'"timeout":{timeout},"type":"command"}}],"matcher":"compact"}}'
    )
    return f"sha256:{sha256(text.encode()).hexdigest()}"


@pytest.fixture
def script(coppice: Coppice) -> Path:
    """The script that the hook of a connected Codex runs."""
    return Path(coppice("connect", "codex").out.split("config.toml\n")[1].splitlines()[1].strip())


def test_an_approved_hook_runs(coppice: Coppice, script: Path, approve: Callable[..., None]) -> None:
    assert UNTRUSTED in coppice("status").out
    approve(hash_of(script))
    assert UNTRUSTED not in coppice("status").out


@pytest.mark.parametrize("other", OTHERS)
def test_the_approval_of_another_hook_is_none_of_ours(
    coppice: Coppice, script: Path, file: Path, approve: Callable[..., None], other: str
) -> None:
    file.write_text(f"{other}\n{file.read_text()}")
    approve(hash_of(script), 0)
    assert UNTRUSTED in coppice("status").out
    approve(hash_of(script), 1)
    assert UNTRUSTED not in coppice("status").out


def test_a_hook_that_was_changed_after_its_approval_does_not_run(
    coppice: Coppice, script: Path, approve: Callable[..., None]
) -> None:
    approve(hash_of(script, timeout=10))
    assert UNTRUSTED in coppice("status").out


def test_a_hook_that_is_switched_off_does_not_run(
    coppice: Coppice, script: Path, approve: Callable[..., None]
) -> None:
    approve(hash_of(script), 0, "enabled = false")
    assert "Its hook is trusted and switched off" in coppice("status").out


@pytest.mark.parametrize("state", ["state = 1", "[hooks.state]", "[hooks]\nstate = []", "[[hooks.state]]"])
def test_whatever_the_file_has_of_states_is_no_approval(
    coppice: Coppice, script: Path, file: Path, state: str
) -> None:
    assert script.exists()
    file.write_text(f"{file.read_text()}\n{state}\n")
    ran = coppice("status")
    assert ran.code == 0
    assert UNTRUSTED in ran.out or "connection incomplete" in ran.out
