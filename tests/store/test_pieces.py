"""Pieces of texts, and the stems that they are found by."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.store.search.search_text import HEAD_CHARS, TAIL_CHARS
from coppice.store.words.pieces import KEYS_PER_ENTRY, PIECE_CHARS, indexed_pieces, pieces_of
from coppice.store.words.stems import stem, stem_text, stems_of
from coppice.store.words.word_index import POSTGRES_PIECES, SQLITE_PIECES


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in pieces_of(text)]


def test_a_text_is_cut_where_lines_end() -> None:
    text = "a short line\n" * 100
    pieces = cut(text)
    assert "".join(pieces) == text
    assert all(piece.endswith("line\n") for piece in pieces)
    assert len(pieces) == 4


def test_a_long_line_is_cut_after_sentences_and_a_long_sentence_after_words() -> None:
    sentences = "The rowan grows by the gate. " * 40
    assert all(piece.endswith("gate. ") for piece in cut(sentences))
    words = "rowan " * 300
    assert all(piece.endswith("rowan ") for piece in cut(words))
    assert [len(piece) for piece in cut("x" * 1000)] == [400, 400, 200]
    assert cut("这是一个句子。" * 100)[0].endswith("。")


@given(st.text(alphabet="ab. \n。:", max_size=3000))
def test_pieces_are_short_and_in_order_and_hold_everything_but_blanks(text: str) -> None:
    pieces = pieces_of(text)
    assert all(end - start <= PIECE_CHARS for start, end in pieces)
    assert all(one[1] <= other[0] for one, other in pairwise(pieces))
    assert "".join("".join(cut(text)).split()) == "".join(text.split())


@pytest.mark.parametrize("line", ["x" * 399 + "\n", "ab\n" + "x" * 398 + "\n", "x" * 201 + "\n", "a. "])
def test_the_longest_text_that_is_indexed_has_fewer_pieces_than_keys(line: str) -> None:
    text = (line * (HEAD_CHARS + TAIL_CHARS))[: HEAD_CHARS + TAIL_CHARS + 3]
    assert len(pieces_of(text)) < KEYS_PER_ENTRY


def test_the_schema_holds_the_number_of_keys() -> None:
    assert f"old.key * {KEYS_PER_ENTRY} + {KEYS_PER_ENTRY - 1};" in SQLITE_PIECES.definition[1]
    assert f"rowid / {KEYS_PER_ENTRY}" in str(SQLITE_PIECES.entry_key)
    assert f":key / {KEYS_PER_ENTRY}," in POSTGRES_PIECES.insertion


def test_what_was_found_in_the_history_has_no_pieces() -> None:
    for name in ("history_search", "mcp__coppice__history_read", "coppice-note_list"):
        assert indexed_pieces(7, {"message": {"toolName": name}}, "rowan") == []
    assert indexed_pieces(7, {"message": {"toolName": "bash"}}, "The rowans") == [(7 * 128, "the rowan")]


@pytest.mark.parametrize(
    "forms",
    [
        ("batch", "batches", "batched", "batching"),
        ("migration", "migrations", "migrate", "migrated"),
        ("carry", "carries", "carried"),
        ("stop", "stopped", "stopping", "stops"),
        ("rename", "renamed", "renaming"),
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


def test_a_text_is_found_by_the_parts_of_its_identifiers_and_by_pairs_of_characters() -> None:
    assert {"transcript", "render"} <= set(stems_of("TranscriptRendering"))
    assert stem_text("登录页面 Café x1") == "登录 录页 页面 cafe x1"
