"""Which pieces come first, and which are left out."""

from typing import Any

from coppice.service.history.pieces import MAX_PIECES, PIECE_CHARS, pieces_of
from coppice.service.history.query import parse_query
from coppice.service.history.ranking import Source, choose_candidates, ranked_hits, without_repeats
from coppice.store.recalling import Postings, RecallRow


def source(key: int, text: str, weight: float = 1.0, **body: Any) -> Source:
    row = RecallRow(
        key, "c", f"e{key}", None, "2026-03-01T10:00:00.000Z", "message", body, on_current_path=True
    )
    return Source(row, text, weight)


def order(question: str, *sources: Source) -> list[int]:
    return [hit.source.row.key for hit in ranked_hits(parse_query(question), sources)]


def test_rare_words_count_more_than_frequent_ones() -> None:
    others = [source(key, "the build and the build log") for key in range(1, 9)]
    assert order("rowan build", *others, source(9, "rowan leaves"))[0] == 9


def test_prose_comes_before_a_dump_and_newer_before_older() -> None:
    assert order("rowan", source(1, "rowan", 1.4), source(2, "rowan"))[0] == 1
    assert order("rowan", source(1, "rowan"), source(2, "rowan"))[0] == 2


def test_what_holds_nothing_of_the_question_is_no_hit() -> None:
    assert order("rowan", source(1, "oak")) == []


def test_a_piece_whose_lines_were_given_is_left_out() -> None:
    dump = "\n".join(f"line {number} of a long file with the rowan" for number in range(10))
    hits = ranked_hits(parse_query("rowan"), [source(1, dump), source(2, dump)])
    assert [hit.source.row.key for hit in without_repeats(hits)] == [2]


def test_candidates_with_rare_words_come_first() -> None:
    postings = Postings(keys=[[9, 8, 7, 6], [3]], most=4, span=1000)
    assert choose_candidates(parse_query("rowan and larch"), postings)[0] == 3


def test_a_text_is_cut_where_lines_end_and_long_lines_anywhere() -> None:
    text = "short\n" * 400 + "x" * 2500
    pieces = pieces_of(text)
    assert "".join(pieces) == text
    assert all(len(piece) <= PIECE_CHARS for piece in pieces)
    assert all(piece.endswith("\n") for piece in pieces[:2])


def test_a_short_line_is_no_piece_of_its_own() -> None:
    pieces = pieces_of("bash\n" + "x" * PIECE_CHARS)
    assert [len(piece) for piece in pieces] == [PIECE_CHARS, len("bash\n")]
    assert pieces[0].startswith("bash\n")


def test_of_a_huge_text_the_beginning_and_the_end_are_ranked() -> None:
    pieces = pieces_of("a" * PIECE_CHARS * 500 + "b" * PIECE_CHARS)
    assert len(pieces) == MAX_PIECES
    assert (pieces[0][0], pieces[-1][-1]) == ("a", "b")
