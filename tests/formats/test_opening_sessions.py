import io
import os
from pathlib import Path

import pytest
from session_samples import HEADER, lines_of, message_record, prompt, texts
from systems import needs_pipes

from coppice.errors import ImportFailedError
from coppice.formats.reading import open_session

PI = "\n".join(lines_of(HEADER, message_record("a", None, "one")))
CLAUDE = "\n".join(lines_of(prompt("u1", None, "one")))
OWN = "\n".join(
    lines_of({"type": "coppice", "version": 1, "id": "k", "leafId": "a"}, message_record("a", None, "one"))
)


@pytest.mark.parametrize(("content", "format_"), [(PI, "pi"), (CLAUDE, "claude-code"), (OWN, "coppice")])
def test_the_format_is_recognized(content: str, format_: str) -> None:
    reader = open_session(content)
    assert reader.header.format == format_
    assert texts(reader) == ["one"]


@pytest.mark.parametrize(("content", "format_"), [(PI, "pi"), (CLAUDE, "claude-code"), (OWN, "coppice")])
def test_a_named_format_is_used(content: str, format_: str) -> None:
    assert texts(open_session(content, format_)) == ["one"]


@pytest.mark.parametrize(
    ("content", "format_"),
    [
        (PI, "coppice"),
        (PI, "claude-code"),
        (CLAUDE, "pi"),
        (CLAUDE, "coppice"),
        (OWN, "pi"),
        (OWN, "claude-code"),
    ],
)
def test_a_wrongly_named_format_is_refused(content: str, format_: str) -> None:
    with pytest.raises(ImportFailedError, match="format"):
        open_session(content, format_)


def test_rotten_lines_before_the_header_do_not_hide_the_format() -> None:
    reader = open_session(f"\x00\x00garbage\n[]\n{PI}\n")
    assert reader.header.session_id == "s-1"
    assert texts(reader) == ["one"]
    assert [warning[:7] for warning in reader.warnings] == ["line 1:", "line 2:"]


def test_entries_without_a_header_are_read_as_pi_s() -> None:
    reader = open_session(
        "\n".join(lines_of(message_record("a", None, "one"), message_record("b", "a", "two")))
    )
    assert texts(reader) == ["one", "two"]
    assert reader.warnings == [
        "line 1: the header of the Pi session is missing; its entries were read without"
    ]


def test_a_second_header_is_left_out() -> None:
    reader = open_session(f"{PI}\n" + "\n".join(lines_of(HEADER, message_record("b", "a", "two"))))
    assert texts(reader) == ["one", "two"]
    assert [warning[:7] for warning in reader.warnings] == ["line 3:"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n\r\n\t\n", "is empty"),
        (b"\x7fELF\x02\x01\x00\x00" + bytes(500), "is binary"),
        ('{"type": "session"}'.encode("utf-16"), "is UTF-16"),
        (b"# Notes\n\nNothing here.\n", "is no session"),
        (b'{"name": "x", "version": "1.0.0"}\n', "is no session"),
        (b'[{"type": "session"}]', "is no session"),
    ],
)
def test_what_is_no_session_is_refused_with_a_sentence(content: bytes, words: str) -> None:
    with pytest.raises(ImportFailedError, match=words) as refused:
        open_session(io.BytesIO(content))
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize("format_", ["pi", "coppice", "claude-code"])
def test_a_file_without_a_usable_line_is_refused_in_every_format(format_: str) -> None:
    with pytest.raises(ImportFailedError, match="No line of this file"):
        open_session('{"type": "song"}\nla la\n', format_)


def test_a_folder_a_missing_and_a_locked_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFailedError, match="is a folder"):
        open_session(tmp_path)
    with pytest.raises(ImportFailedError, match="no such file"):
        open_session(tmp_path / "none.jsonl")
    with pytest.raises(ImportFailedError, match="not a file name"):
        open_session(Path("\0"))
    locked = tmp_path / "locked.jsonl"
    locked.write_text(PI)
    locked.chmod(0)
    if os.access(locked, os.R_OK):
        assert texts(open_session(locked)) == ["one"]
    else:
        with pytest.raises(ImportFailedError, match="may not be read"):
            open_session(locked)


@needs_pipes
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ImportFailedError, match="not a regular file"):
        open_session(tmp_path / "pipe")


def test_the_source_file_is_never_written(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text(f"{PI}\n{{torn")
    file.chmod(0o400)
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    assert texts(open_session(file)) == ["one"]
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert list(tmp_path.iterdir()) == [file]


def test_a_stream_that_cannot_seek_is_read() -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, PI.encode())
    os.close(write_end)
    with os.fdopen(read_end, "rb") as stream:
        reader = open_session(stream)
        assert texts(reader) == ["one"]
        assert texts(reader) == ["one"]


@pytest.mark.parametrize("after", ["", "x" * len(PI), PI.replace('"a"', '"q"')])
def test_a_file_changed_between_the_readings_is_reported(tmp_path: Path, after: str) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text(PI)
    reader = open_session(file)
    file.write_text(after)
    with pytest.raises(ImportFailedError, match="was changed"):
        list(reader)


def test_a_file_that_grows_meanwhile_is_read_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text(f"{PI}\n")
    reader = open_session(file)
    with file.open("a") as more:
        more.write("\n".join(lines_of(message_record("b", "a", "two"))))
    assert texts(reader) == ["one"]
    assert reader.leaf_id == "a"
