"""`coppice connect codex --agents-md`: a section in the user's own instructions, which stay as they are."""

from pathlib import Path

import pytest
from cli.conftest import Coppice

OWN = "# Mine\n\nSpeak plainly.\n"
TEXTS = ["", "# Mine", OWN, f"{OWN}\n", "# Mine\r\n\r\nSpeak plainly.\r\n"]


@pytest.fixture(autouse=True)
def instructions(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODEX_HOME", str(home / "codex"))
    file = home / "codex" / "AGENTS.md"
    file.parent.mkdir()
    file.write_text(OWN)
    return file


def raw(file: Path) -> str:
    return file.read_bytes().decode()


@pytest.mark.parametrize("own", TEXTS)
def test_the_section_comes_after_what_is_there_and_goes_without_a_trace(
    coppice: Coppice, instructions: Path, own: str
) -> None:
    instructions.write_bytes(own.encode())
    assert coppice("connect", "codex", "--agents-md", "--yes").code == 0
    connected = raw(instructions)
    assert connected.startswith(own)
    assert connected.count("history_search") == 1
    assert "nothing to change" in coppice("connect", "codex", "--agents-md", "--yes").out
    assert raw(instructions) == connected
    assert coppice("connect", "--remove", "codex").code == 0
    assert raw(instructions) == own


def test_a_file_that_was_made_for_it_goes_again(coppice: Coppice, instructions: Path) -> None:
    instructions.unlink()
    coppice("connect", "codex", "--agents-md", "--yes")
    assert "history_search" in raw(instructions)
    coppice("connect", "--remove", "codex")
    assert not instructions.exists()


def test_what_the_user_writes_around_it_stays(coppice: Coppice, instructions: Path) -> None:
    coppice("connect", "codex", "--agents-md", "--yes")
    instructions.write_text(f"# First\n\n{raw(instructions)}\n# Last\n")
    coppice("connect", "--remove", "codex")
    assert raw(instructions) == f"# First\n\n{OWN}\n# Last\n"


def test_without_the_option_it_is_not_added_and_one_that_is_there_is_kept_current(
    coppice: Coppice, instructions: Path
) -> None:
    coppice("connect", "codex")
    assert raw(instructions) == OWN
    coppice("connect", "codex", "--agents-md", "--yes")
    connected = raw(instructions)
    instructions.write_text(connected.replace("Earlier work", "Of an older version"))
    coppice("connect", "codex")
    assert raw(instructions) == connected


@pytest.mark.parametrize(("answer", "sections"), [(b"y\n", 1), (b"n\n", 0), (b"\n", 0)])
def test_it_is_shown_and_asked_for_at_a_terminal(
    coppice: Coppice, instructions: Path, answer: bytes, sections: int
) -> None:
    ran = coppice("connect", "codex", "--agents-md", stdin=answer, is_terminal=True)
    assert ran.code == 0
    assert "    The tools of the MCP server `coppice`" in ran.out
    assert raw(instructions).count("history_search") == sections
    assert "coppice" in (instructions.parent / "config.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["codex", "--agents-md"], "Give --yes"),
        (["pi", "--agents-md"], "--agents-md is for codex"),
        (["codex", "--agents-md", "--remove"], "leave out --agents-md"),
    ],
)
def test_nothing_is_written_where_it_cannot_be_meant(
    coppice: Coppice, instructions: Path, arguments: list[str], message: str
) -> None:
    ran = coppice("connect", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert raw(instructions) == OWN
    assert not (instructions.parent / "config.toml").exists()


@pytest.mark.parametrize(
    "own", ["<!-- End of what `coppice connect` added. -->\n", "<!-- Added by `coppice connect`; "]
)
def test_half_a_section_of_the_users_is_left(coppice: Coppice, instructions: Path, own: str) -> None:
    instructions.write_text(f"{own}\nMine.\n")
    coppice("connect", "codex", "--agents-md", "--yes")
    coppice("connect", "--remove", "codex")
    assert raw(instructions) == f"{own}\nMine.\n"


def test_a_dry_run_shows_it_and_writes_nothing(coppice: Coppice, instructions: Path) -> None:
    ran = coppice("connect", "codex", "--agents-md", "--dry-run")
    assert "+## Earlier work" in ran.out
    assert raw(instructions) == OWN
