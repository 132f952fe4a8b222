"""Which pieces come first."""

from coppice.service.history.ranking import choose_candidates, ranked, rarities
from coppice.store.search.recalling import PieceRow, Postings


def piece(entry: int, words: str, role: str = "toolResult", *, parent: int | None = None) -> PieceRow:
    return PieceRow(entry * 128, words, entry, parent, "message", role)


def order(weights: dict[str, float], *pieces: PieceRow) -> list[int]:
    return [each.piece.entry_key for each in ranked(weights, pieces)]


def test_rare_words_count_more_than_frequent_ones() -> None:
    stems = {"rowan": 1.0, "build": 1.0}
    postings = Postings(keys=[[128], [key * 128 for key in range(9, 1, -1)]], most=100, span=10)
    weights = rarities(stems, postings)
    assert weights["rowan"] > weights["build"]
    others = [piece(key, "the build and the build log") for key in range(2, 9)]
    assert order(weights, piece(1, "rowan leaves"), *others)[0] == 1


def test_a_word_whose_newest_pieces_lie_densely_is_taken_for_frequent() -> None:
    stems = {"dense": 1.0, "sparse": 1.0}
    postings = Postings(keys=[[1280, 1152, 1024], [1280, 640, 0]], most=3, span=1000)
    weights = rarities(stems, postings)
    assert weights["sparse"] > weights["dense"]


def test_prose_comes_before_output_and_newer_before_older() -> None:
    assert order({"rowan": 1.0}, piece(1, "rowan", "user"), piece(2, "rowan"))[0] == 1
    assert order({"rowan": 1.0}, piece(1, "rowan"), piece(2, "rowan"))[0] == 2


def test_a_short_piece_comes_before_a_long_one_with_the_same_word() -> None:
    assert order({"rowan": 1.0}, piece(1, "rowan"), piece(2, "rowan " + "leaf " * 90))[0] == 1


def test_a_piece_gains_from_the_entries_before_and_after_its_own() -> None:
    weights = {"rowan": 1.0, "oak": 1.0}
    alone, call, result = piece(9, "oak"), piece(1, "rowan rowan"), piece(2, "oak", parent=1)
    assert order(weights, alone, call, result).index(2) < order(weights, alone, call, result).index(9)


def test_candidates_with_rare_words_come_first() -> None:
    postings = Postings(keys=[[9, 8, 7, 6], [3]], most=4, span=1000)
    assert choose_candidates({"rowan": 1.0, "larch": 1.0}, postings)[0] == 3
    assert choose_candidates({"rowan": 1.0, "larch": 0.0}, postings)[-1] == 3
