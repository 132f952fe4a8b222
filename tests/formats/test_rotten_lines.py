import io
import json
import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from session_samples import HEADER, lines_of, message_record, read_lines, read_text, texts

from coppice.errors import ImportFailedError
from coppice.formats.lines import MAX_LINE_BYTES
from coppice.formats.reading import open_session
from coppice.formats.warning_log import WARNINGS_OF_A_KIND, WarningLog, as_sentences
from coppice.tree.entries import CustomEntry

ONE, TWO, THREE = (
    message_record("a", None, "one"),
    message_record("b", "a", "two"),
    message_record("c", "b", "three"),
)
HEAD, FIRST, SECOND, THIRD = lines_of(HEADER, ONE, TWO, THREE)


def test_a_sound_file_gives_no_warning() -> None:
    reader, entries = read_lines(HEAD, FIRST, SECOND, THIRD)
    assert texts(entries) == ["one", "two", "three"]
    assert reader.warnings == []
    assert reader.leaf_id == "c"


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("{not json", "is not JSON"),
        ("[1, 2]", "holds no JSON object"),
        ("null", "holds no JSON object"),
        ("17", "holds no JSON object"),
        ('{"a": ' * 100_000, "nested too deep"),
        ("\x00\x00\x00", "is not JSON"),
    ],
)
def test_a_bad_line_is_left_out_and_its_neighbours_are_kept(bad: str, words: str) -> None:
    reader, entries = read_lines(HEAD, FIRST, bad, SECOND, THIRD)
    assert texts(entries) == ["one", "two", "three"]
    (warning,) = reader.warnings
    assert warning.startswith("line 3: ")
    assert words in warning


def test_a_torn_last_line_is_reported_as_torn() -> None:
    reader, entries = read_text(f"{HEAD}\n{FIRST}\n{SECOND}\n{THIRD[:40]}")
    assert texts(entries) == ["one", "two"]
    assert reader.warnings == ["line 4: the file ends in the middle of this line, which was left out"]
    assert reader.leaf_id == "b"


def test_a_last_line_without_newline_is_read() -> None:
    reader, entries = read_text(f"{HEAD}\n{FIRST}\n{SECOND}")
    assert texts(entries) == ["one", "two"]
    assert reader.warnings == []


def test_a_byte_order_mark_is_ignored_with_a_warning() -> None:
    reader, entries = read_text(f"\ufeff{HEAD}\n{FIRST}\n")
    assert texts(entries) == ["one"]
    assert reader.warnings == ["line 1: the file begins with a byte order mark, which was ignored"]
    assert reader.header.session_id == "s-1"


def test_windows_line_ends_are_reported_once() -> None:
    reader, entries = read_text(f"{HEAD}\r\n{FIRST}\r\n{SECOND}\r\n")
    assert texts(entries) == ["one", "two"]
    (warning,) = reader.warnings
    assert warning.startswith("line 1: ")
    assert "CRLF" in warning


def test_blank_lines_count_and_add_nothing() -> None:
    reader, entries = read_lines("", HEAD, "   ", FIRST, "{bad", "")
    assert texts(entries) == ["one"]
    assert [warning[:8] for warning in reader.warnings] == ["line 5: "]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_what_is_no_number_becomes_null(number: str) -> None:
    line = FIRST.replace('"message": {', f'"odd": [{number}], "message": {{', 1)
    reader, entries = read_lines(HEAD, line)
    assert entries[0].model_dump(by_alias=True)["odd"] == [None]
    assert reader.warnings == ["line 2: NaN or Infinity, which JSON does not have, became null"]


def test_an_endless_number_becomes_null() -> None:
    line = FIRST.replace('"message": {', f'"odd": {"9" * 5000}, "message": {{', 1)
    reader, entries = read_lines(HEAD, line)
    assert entries[0].model_dump(by_alias=True)["odd"] is None
    assert reader.warnings == ["line 2: a number of thousands of digits became null"]


def test_a_line_that_breaks_after_an_endless_number_is_left_out() -> None:
    reader, entries = read_lines(HEAD, f'{{"n": {"9" * 5000}, x', FIRST)
    assert texts(entries) == ["one"]
    (warning,) = reader.warnings
    assert warning.startswith("line 2: this line is not JSON")


def test_half_a_surrogate_pair_becomes_the_replacement_character() -> None:
    reader, entries = read_lines(HEAD, FIRST.replace("one", r"o\ud83dne \ud83d\ude00"), SECOND)
    assert texts(entries) == ["o\ufffdne 😀", "two"]
    assert reader.warnings == ["line 2: half of a surrogate pair was replaced by U+FFFD"]


def test_bytes_that_are_not_utf8_are_replaced() -> None:
    content = f"{HEAD}\n{FIRST}\n".encode().replace(b"one", b"o\xffne")
    reader = open_session(io.BytesIO(content))
    assert texts(reader) == ["o\ufffdne"]
    assert reader.warnings == ["line 2: bytes that are not UTF-8 were replaced by U+FFFD"]


def test_a_line_too_long_is_left_out_and_the_next_is_read() -> None:
    long = FIRST.replace("one", "x" * MAX_LINE_BYTES)
    reader, entries = read_lines(HEAD, long, message_line("b", None, "two"))
    assert texts(entries) == ["two"]
    (warning,) = reader.warnings
    assert warning.startswith("line 2: this line is longer than ")


def test_an_entry_nested_too_deep_to_store_is_kept_as_its_text() -> None:
    deep = FIRST.replace('"message": {', f'"odd": {"[" * 300}{"]" * 300}, "message": {{', 1)
    reader, entries = read_lines(HEAD, deep, SECOND)
    assert isinstance(entries[0], CustomEntry)
    assert entries[0].data == deep
    assert entries[1].parent_id == "a"
    (warning,) = reader.warnings
    assert warning.startswith("line 2: this entry is nested too deep")


def test_the_same_entry_twice_is_taken_once() -> None:
    reader, entries = read_lines(HEAD, FIRST, SECOND, FIRST, THIRD)
    assert [entry.id for entry in entries] == ["a", "b", "c"]
    assert reader.warnings == ["line 4: the entry 'a' is in the file twice"]


def test_another_entry_with_a_taken_id_is_kept_under_a_new_one() -> None:
    reader, entries = read_lines(
        HEAD, FIRST, SECOND, message_line("a", "b", "other"), message_line("d", "a", "last")
    )
    assert [(entry.id, entry.parent_id) for entry in entries] == [
        ("a", None),
        ("b", "a"),
        ("a~2", "b"),
        ("d", "a~2"),
    ]
    assert texts(entries) == ["one", "two", "other", "last"]
    assert [warning[:8] for warning in reader.warnings] == ["line 4: "]


def test_an_orphan_becomes_a_root() -> None:
    reader, entries = read_lines(HEAD, FIRST, message_line("x", "gone", "orphan"))
    assert entries[1].parent_id is None
    assert reader.warnings == ["line 3: the parent 'gone' is not in the file; this entry became a root"]


def test_a_circle_is_cut_at_its_earliest_line() -> None:
    reader, entries = read_lines(
        HEAD,
        FIRST,
        message_line("x", "z", "x"),
        message_line("y", "x", "y"),
        message_line("z", "y", "z"),
        message_line("own", "own", "self"),
    )
    assert {entry.id: entry.parent_id for entry in entries} == {
        "a": None,
        "x": None,
        "y": "x",
        "z": "y",
        "own": None,
    }
    assert [warning[:8] for warning in reader.warnings] == ["line 3: ", "line 6: "]


def test_a_parent_that_comes_later_is_given_first() -> None:
    reader, entries = read_lines(HEAD, THIRD, SECOND, FIRST)
    assert [entry.id for entry in entries] == ["a", "b", "c"]
    assert reader.warnings == []
    assert reader.leaf_id == "a"


def test_an_entry_without_id_or_parent_hangs_on_the_one_before() -> None:
    loose = {
        key: value
        for key, value in message_record("", None, "loose").items()
        if key not in ("id", "parentId")
    }
    reader, entries = read_lines(HEAD, FIRST, *lines_of(loose))
    assert entries[1].parent_id == "a"
    assert entries[1].id
    assert [warning[:8] for warning in reader.warnings] == ["line 3: ", "line 3: "]


def test_an_entry_without_a_time_takes_its_message_s() -> None:
    timeless = {key: value for key, value in ONE.items() if key != "timestamp"}
    reader, entries = read_lines(HEAD, *lines_of(timeless))
    assert entries[0].timestamp == "2026-03-01T10:00:00.000Z"
    assert [warning[:8] for warning in reader.warnings] == ["line 2: "]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"type": "hologram"}, "is of the unknown type 'hologram'"),
        ({"message": {"role": "oracle", "content": []}}, "has the unknown role 'oracle'"),
        ({"message": {"role": "user"}}, "message.user.content (Field required)"),
        ({"message": 5}, "is not as expected at message"),
    ],
)
def test_what_is_not_understood_is_kept_as_data(change: dict[str, object], words: str) -> None:
    odd = {**TWO, **change}
    reader, entries = read_lines(HEAD, FIRST, *lines_of(odd), THIRD)
    entry = entries[1]
    assert isinstance(entry, CustomEntry)
    assert entry.custom_type == "coppice.unknown"
    assert entry.data == odd
    assert entries[2].parent_id == "b"
    (warning,) = reader.warnings
    assert warning.startswith("line 3: this entry ")
    assert words in warning


def test_warnings_are_the_same_after_a_second_reading() -> None:
    reader, entries = read_lines(HEAD, FIRST, "{bad", *lines_of({**TWO, "type": "hologram"}))
    before = reader.warnings
    assert list(reader) == entries
    assert reader.warnings == before
    assert len(before) == 2


def test_a_flood_of_warnings_is_counted() -> None:
    log = WarningLog()
    for line in range(1, WARNINGS_OF_A_KIND + 51):
        log.add(line, "torn", "bad")
    log.add(7, "other", "good to know")
    warnings = as_sentences(log)
    assert len(warnings) == WARNINGS_OF_A_KIND + 2
    assert warnings[7] == "line 7: good to know"
    assert warnings[-1] == f"line {WARNINGS_OF_A_KIND + 1}: … and 50 more of this kind from here on (torn)"


@given(st.binary(max_size=300), st.integers(0, 400))
def test_bytes_thrown_into_a_file_never_crash_it(noise: bytes, place: int) -> None:
    content = f"{HEAD}\n{FIRST}\n{SECOND}\n{THIRD}\n".encode()
    noisy = content[:place] + noise + content[place:]
    with suppress(ImportFailedError):
        reader = open_session(io.BytesIO(noisy))
        entries = list(reader)
        assert all(warning.startswith("line ") for warning in reader.warnings)
        whole = set(noisy.split(b"\n")) & set(content.split(b"\n")[1:4])
        assert {json.loads(line)["id"] for line in whole} <= {entry.id for entry in entries}
        seen: set[str | None] = {None}
        for entry in entries:
            assert entry.parent_id in seen
            seen.add(entry.id)


@given(st.lists(st.integers(-1, 40), max_size=40), st.randoms(use_true_random=False))
def test_every_good_line_is_given_once_and_parents_first(links: list[int], shuffle: random.Random) -> None:
    values = [
        message_record(f"e{n}", None if link < 0 else f"e{link}", str(n)) for n, link in enumerate(links)
    ]
    shuffle.shuffle(values)
    _, entries = read_lines(HEAD, *lines_of(*values))
    assert sorted(texts(entries)) == sorted(str(n) for n in range(len(links)))
    seen: set[str | None] = {None}
    for entry in entries:
        assert entry.parent_id in seen
        seen.add(entry.id)


def message_line(entry_id: str, parent_id: str | None, text: str) -> str:
    return json.dumps(message_record(entry_id, parent_id, text))
