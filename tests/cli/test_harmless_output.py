"""Nothing that a conversation says reaches the terminal as a command to it."""

import json
import re
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Coppice, on_terminal
from cli.sessions import HEADER, assistant, entry, messages, user
from hypothesis import example, given
from hypothesis import strategies as st

from coppice import operating_system
from coppice.cli.plain import json_text, plain, plain_line
from coppice.cli.terminal import prepare_streams

ATTACKS = (
    "\x1b]0;owned\x07",
    "\x1b]52;c;b3duZWQ=\x1b\\",
    "\x1b[2J\x1b[H",
    "\x9b31m",
    "\x9d0;owned\x9c",
    "\x1bP$q\x1b\\",
    "\rrm -rf /",
    "\x08\x08\x7f",
    "\u202etxt.exe\u2066",
    "\x1b",
)
ACTED_ON = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
MARKUP = "[bold red]loud[/bold red] [link=http://x.invalid]here[/link] :smile:"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words\n\tand 中文 👍🏽", "plain words\n\tand 中文 👍🏽"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x.invalid\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a␍b"),
        ("\x1b", "␛"),
        ("\x1b]0;never closed", "0;never closed"),
        ("bell\x07", "bell␇"),
        ("\x85", "\\u0085"),
        ("\u202egpj", "\\u202egpj"),
        ("\ud800", "\ufffd"),
    ],
)
def test_what_a_text_becomes(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(st.text() | st.lists(st.sampled_from([*ATTACKS, "a", "\n", "["])).map("".join))
@example("\x1b\x1b[31m")
@example("\x1b[\x1b[31m")
def test_nothing_is_left_that_a_terminal_acts_on(text: str) -> None:
    assert not ACTED_ON.search(plain(text))


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp"])))
def test_what_is_harmless_stays(text: str) -> None:
    assert plain(text) == text


@given(st.text(), st.integers(1, 50))
def test_a_line_is_one_line_of_its_length(text: str, limit: int) -> None:
    line = plain_line(text, limit)
    assert len(line) <= limit
    assert "\n" not in line


@given(st.lists(st.none() | st.integers() | st.text() | st.lists(st.text())))
def test_json_reads_back_as_it_was_and_is_harmless(value: Any) -> None:
    text = json_text(value)
    assert json.loads(text.encode()) == value
    assert not ACTED_ON.search(text)


def test_text_full_of_beginnings_takes_no_time() -> None:
    assert plain("\x1b]" * 50_000 + "\x1b[" * 50_000) == ""


def hostile(folder: Path) -> Path:
    """A session with an attack wherever a conversation can hold text."""
    nasty = MARKUP + "".join(ATTACKS)
    hostile_messages: list[dict[str, Any]] = [user(f"Goal {nasty}"), assistant(f"Answer {nasty}")]
    call = {"type": "toolCall", "id": "c1", "name": f"read{nasty}", "arguments": {"path": f"a{nasty}.py"}}
    hostile_messages.append({"role": "assistant", "content": [call], "stopReason": "toolUse"})
    result = {"toolCallId": "c1", "toolName": f"read{nasty}", "isError": False}
    hostile_messages.append({"role": "toolResult", "content": [{"type": "text", "text": nasty}], **result})
    hostile_messages += messages(60)
    hostile_messages.append(user(f"Last {nasty}"))
    entries = [
        entry(number, number - 1 if number else None, each) for number, each in enumerate(hostile_messages)
    ]
    last = entries[-1]["id"]
    label = {"type": "label", "id": "l1", "parentId": last, "timestamp": HEADER["timestamp"]}
    entries.append({**label, "targetId": "e3", "label": f"here {nasty}"})
    entries.append({**label, "type": "session_info", "id": f"n{nasty}", "name": f"named {nasty}"})
    file = folder / "hostile.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in (HEADER, *entries)) + "\n")
    return file


@pytest.mark.parametrize(
    "arguments",
    [
        ["compact"],
        ["compact", "--json"],
        ["context"],
        ["context", "--format", "openai"],
        ["context", "--format", "anthropic", "--json"],
        ["ledger"],
        ["ledger", "--json"],
        ["tree"],
        ["tree", "--mode", "all"],
        ["tree", "--mode", "all", "--json"],
    ],
    ids=" ".join,
)
def test_a_hostile_session_is_shown_as_text(coppice: Coppice, tmp_path: Path, arguments: list[str]) -> None:
    ran = coppice(arguments[0], hostile(tmp_path), *arguments[1:])
    assert ran.code == 0, ran.err
    assert "[bold red]loud[/bold red]" in ran.out
    assert not ACTED_ON.search(ran.out + ran.err)


@pytest.mark.parametrize("arguments", [["list"], ["list", "--all"], ["list", "--json"]], ids=" ".join)
def test_a_hostile_name_is_shown_as_text(coppice: Coppice, tmp_path: Path, arguments: list[str]) -> None:
    assert coppice("import", hostile(tmp_path)).code == 0
    ran = coppice(*arguments)
    assert "named" in ran.out
    assert not ACTED_ON.search(ran.out)


def test_an_export_into_a_pipe_keeps_every_character(coppice: Coppice, tmp_path: Path) -> None:
    shown = coppice("export", hostile(tmp_path), "--format", "coppice").out
    again = tmp_path / "again.jsonl"
    again.write_text(shown, encoding="utf-8")
    exported = json.loads(coppice("context", again, "--format", "entries", "--json").out)["messages"]
    assert exported[0]["content"] == f"Goal {MARKUP}{''.join(ATTACKS)}"


@pytest.mark.parametrize(
    "arguments", [["compact"], ["context"], ["tree"], ["export", "--format", "markdown"]], ids=" ".join
)
def test_a_terminal_is_sent_no_sequence_of_the_conversation(
    tmp_path: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm-256color")
    sent = on_terminal(arguments[0], hostile(tmp_path), *arguments[1:])
    for attack in ("\x1b]0;", "\x1b]52", "\x9b", "\x9d", "\x1bP", "\u202e", "\x08", "\x07", "\rrm"):
        assert attack not in sent
    assert "[bold red]loud" in sent


def test_a_terminal_gets_a_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm-256color")
    sent = on_terminal("compact", hostile(tmp_path))
    assert re.search(r"Compacting\x1b\[[0-9;]*m .*━", sent)
    assert re.search(r"Compacting: .* → .* tokens", sent)


@pytest.mark.parametrize(
    ("encoding", "expected"), [(None, b"\x85 ?"), ("utf-8", "… 字".encode())], ids=["elsewhere", "on Windows"]
)
def test_what_goes_into_a_pipe_has_every_character_on_windows(
    monkeypatch: pytest.MonkeyPatch, encoding: str | None, expected: bytes
) -> None:
    written = BytesIO()
    monkeypatch.setattr(operating_system, "ENCODING_OF_PIPES", encoding)
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(written, encoding="cp1252"))
    prepare_streams()
    sys.stdout.write("… 字")
    sys.stdout.flush()
    assert written.getvalue() == expected
