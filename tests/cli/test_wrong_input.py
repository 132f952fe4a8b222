"""What cannot be read ends in one sentence, for every command that reads."""

import json
import os
from pathlib import Path

import pytest
from cli.conftest import Coppice, Ran
from cli.sessions import assistant, long_session, user, write_session

READERS = [
    ("compact",),
    ("context",),
    ("tree",),
    ("import",),
    ("export", "--format", "markdown"),
]


def refused(ran: Ran) -> str:
    """The one sentence of a command that could not be done."""
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("coppice: ")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    return ran.err


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "empty"),
        (b"\n\n\n", ""),
        (b"\x00\x01\x02\xff\xfe" * 1000, "binary"),
        (b"just some prose\nand more of it\n", ""),
        (b'{"type": "session"', ""),
        (b"[1, 2, 3]\n", ""),
    ],
    ids=["empty", "blank", "binary", "prose", "torn", "list"],
)
def test_a_file_that_is_no_session_is_refused(
    coppice: Coppice, tmp_path: Path, command: tuple[str, ...], content: bytes, expected: str
) -> None:
    file = tmp_path / "odd.jsonl"
    file.write_bytes(content)
    assert expected in refused(coppice(command[0], file, *command[1:]))
    assert file.read_bytes() == content
    assert json.loads(coppice("list", "--all", "--json").out) == {"conversations": []}


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
@pytest.mark.parametrize("name", ["missing.jsonl", "./missing", "no/such/folder/session", "~nobody-here/x"])
def test_a_missing_file_is_named(coppice: Coppice, command: tuple[str, ...], name: str) -> None:
    assert name in refused(coppice(command[0], name, *command[1:]))


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
def test_a_folder_is_no_session(coppice: Coppice, tmp_path: Path, command: tuple[str, ...]) -> None:
    assert "is a folder" in refused(coppice(command[0], tmp_path, *command[1:]))


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
def test_a_pipe_nobody_writes_to_is_refused_at_once(
    coppice: Coppice, tmp_path: Path, command: tuple[str, ...]
) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert "no regular file" in refused(coppice(command[0], tmp_path / "pipe.jsonl", *command[1:]))


def test_an_endless_device_is_refused(coppice: Coppice) -> None:
    assert "no regular file" in refused(coppice("import", "/dev/zero"))


@pytest.mark.parametrize("name", ["x" * 5000 + ".jsonl", "nul\0.jsonl"], ids=["long", "nul"])
def test_a_name_that_no_file_can_have_is_refused(coppice: Coppice, name: str) -> None:
    assert "cannot be read" in refused(coppice("compact", name))


def test_a_file_that_may_not_be_read_is_refused(
    coppice: Coppice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may read everything, so the refusal is the system call's."""
    file = long_session(tmp_path)
    real = os.open

    def guarded(path: str, flags: int, mode: int = 0o777, **options: int) -> int:
        if str(path) == str(file):
            raise PermissionError(13, "Permission denied", path)
        return real(path, flags, mode, **options)

    monkeypatch.setattr("os.open", guarded)
    assert "permission" in refused(coppice("compact", file))


@pytest.mark.parametrize("command", READERS[:3], ids=lambda command: command[0])
def test_an_unknown_conversation_is_named(coppice: Coppice, command: tuple[str, ...]) -> None:
    assert "'0123abcd'" in refused(coppice(command[0], "0123abcd", *command[1:]))


@pytest.mark.parametrize("command", ["compact", "context"])
def test_an_unknown_leaf_is_refused(coppice: Coppice, tmp_path: Path, command: str) -> None:
    refused(coppice(command, long_session(tmp_path), "--leaf", "nowhere"))


def test_a_program_gets_the_error_as_json(coppice: Coppice) -> None:
    ran = coppice("compact", "missing.jsonl", "--json")
    assert ran.code == 1
    error = json.loads(ran.out)["error"]
    assert error["code"] == "command-failed"
    assert ran.err == f"coppice: {error['message']}\n"


def test_a_refusal_of_the_service_keeps_its_code_and_numbers(coppice: Coppice, tmp_path: Path) -> None:
    file = write_session(tmp_path / "short.jsonl", [user("hello"), assistant("hello to you")])
    error = json.loads(coppice("compact", file, "--json").out)["error"]
    assert error["code"] == "nothing-to-compact"
    assert error["data"]["keepRecentTokens"] == 20_000


def test_a_huge_line_is_read(coppice: Coppice, tmp_path: Path) -> None:
    entries = [user("a" * 8_000_000), assistant("noted"), user("and now?"), assistant("nothing more")]
    ran = coppice("compact", write_session(tmp_path / "huge.jsonl", entries), "--keep-recent", "2", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["context"]["tokens"] < 20_000


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["compact"],
        ["compact", "a", "b"],
        ["compact", "a", "--keep-recent", "many"],
        ["compact", "a", "--keep-recent", "0"],
        ["compact", "a", "--counter", "abacus"],
        ["compact", "a", "--colour"],
        ["context", "a", "--format", "yaml"],
        ["export", "a"],
        ["tree", "a", "--limit", "0"],
        ["serve", "here"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_reported_in_a_line(coppice: Coppice, arguments: list[str]) -> None:
    ran = coppice(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("coppice: ")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("option", ["--socket=5000", "--tcp", "--pipe"])
def test_a_client_that_wants_another_way_than_standard_streams_reads_that_there_is_none(
    coppice: Coppice, option: str
) -> None:
    ran = coppice("serve", "--stdio", option, "127.0.0.1:0")
    assert (ran.code, ran.out) == (2, "")
    assert option in ran.err
    assert "standard input and output" in ran.err


def test_a_workspace_that_is_no_folder_is_refused(coppice: Coppice, tmp_path: Path) -> None:
    assert "--workspace" in refused(coppice("list", "--workspace", tmp_path / "nowhere"))


@pytest.mark.parametrize("output", ["work", "no/such/folder/out.md"])
def test_an_output_that_cannot_be_is_refused_before_any_work(
    coppice: Coppice, home: Path, output: str
) -> None:
    ran = coppice("compact", long_session(home), "--output", home / output)
    assert "Compacting" not in refused(ran)


def test_an_unforeseen_error_is_no_traceback(
    coppice: Coppice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("coppice.cli.tree.drawn", broken)
    message = refused(coppice("tree", long_session(tmp_path)))
    assert "ZeroDivisionError" in message
    assert "secret" not in message


def test_a_page_that_no_answer_named_is_a_usage_error(coppice: Coppice, home: Path) -> None:
    session = long_session(home)
    for page in ("zz", "18", "-1:0"):
        ran = coppice("history", "search", session, "parser", f"--cursor={page}")
        assert (ran.code, ran.out) == (2, "")
        assert "is not a page that an answer named" in ran.err
        assert "coppice history search --help" in ran.err


@pytest.mark.parametrize("command", [[], ["history"]])
def test_without_a_command_the_help_is_all_that_is_printed(coppice: Coppice, command: list[str]) -> None:
    ran = coppice(*command)
    assert ran.code == 2
    assert "Usage: coppice" in ran.out + ran.err
    assert "coppice: " not in ran.err


def test_a_session_of_pi_is_no_codex_rollout(coppice: Coppice, home: Path) -> None:
    assert "Codex rollout" in refused(coppice("import", "--format", "codex", long_session(home)))
