"""What a text is found by, and what a query asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.store.search.searching import SNIPPET_CHARS, snippet
from coppice.store.words.tokens import MOST_CHARS, MOST_WORDS, Term, index_text, places, terms_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("Plant an Oak.", "plant an oak"),
        ("src/part_1.py:12", "src part 1 py 12"),
        ("Café, CAFÉ, cafe\u0301", "cafe cafe cafe"),
        ("Straße Ελλάδα ёлка", "strasse ελλαδα елка"),
        ("修复bug在登录", "修 复 bug 在 登 录"),
        ("テスト、カフェ", "テ ス ト カ フ ェ"),
        ("한국어", "한 국 어"),
        ("ＡＢＣ１２ ﬁne ½", "abc12 fine 1 2"),
        ("a\0b\ud800c\n", "a b c"),
        ("\U00020000木", "\U00020000 木"),
        ("x" * 1000, "x" * MOST_CHARS),
    ],
)
def test_words_are_runs_of_letters_and_digits_folded(text: str, words: str) -> None:
    assert index_text(text) == words
    assert " ".join(place.word for place in places(text)) == words


@given(st.text())
def test_preparing_prepared_text_changes_nothing(text: str) -> None:
    assert index_text(index_text(text)) == index_text(text)


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_the_short_way_for_ascii_gives_the_same(text: str) -> None:
    assert index_text(text) == " ".join(place.word for place in places(text))


@given(st.text())
def test_every_word_comes_from_its_place(text: str) -> None:
    for place in places(text):
        assert place.word in index_text(text[place.start : place.end]).split()


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("", []),
        ("  \t ", []),
        ("*?!/-'()", []),
        ('""', []),
        ("oak", [Term(("oak",), prefix=True)]),
        ("oak ", [Term(("oak",))]),
        ("oak.", [Term(("oak",))]),
        ("oa", [Term(("oa",))]),
        ("old oak", [Term(("old",)), Term(("oak",), prefix=True)]),
        ("oak oak beech ", [Term(("oak",)), Term(("beech",))]),
        ('"old oak"', [Term(("old", "oak"))]),
        ('tall "old oak" tree', [Term(("tall",)), Term(("old", "oak")), Term(("tree",), prefix=True)]),
        ("“old oak”", [Term(("old", "oak"))]),
        ('say "old oak', [Term(("say",)), Term(("old",)), Term(("oak",), prefix=True)]),
        ("src/part_1.py", [Term(("src", "part", "1", "py"))]),
        ("src/parser", [Term(("src", "parser"), prefix=True)]),
        ("登录", [Term(("登", "录"))]),
        ("木", [Term(("木",))]),
        ("登录，测试", [Term(("登", "录")), Term(("测", "试"))]),
        ("修复bug", [Term(("修", "复", "bug"), prefix=True)]),
        (
            "NEAR(a, b) AND NOT c*",
            [Term(("near", "a")), *(Term((word,)) for word in ("b", "and", "not", "c"))],
        ),
        ("words:oak", [Term(("words", "oak"), prefix=True)]),
    ],
)
def test_a_query_is_words_and_phrases_whatever_it_looks_like(query: str, terms: list[Term]) -> None:
    assert terms_of(query) == terms


@given(st.text() | st.text("ab 木\"*'\\-:()^&|!<>"))
def test_any_text_is_a_query_of_bounded_length(query: str) -> None:
    terms = terms_of(query)
    assert sum(len(term.words) for term in terms) <= MOST_WORDS
    assert all(word.isalnum() for term in terms for word in term.words)


def test_a_very_long_query_is_its_beginning() -> None:
    [term] = terms_of("木" * 1000)
    assert term.words == ("木",) * MOST_WORDS


@given(st.text(), st.text())
def test_a_snippet_is_one_short_line(text: str, query: str) -> None:
    line = snippet(text, terms_of(query))
    assert len(line) <= SNIPPET_CHARS
    assert len(line.splitlines()) <= 1


def test_a_snippet_is_where_most_words_are_together() -> None:
    filler = "nothing to see here, " * 60
    text = f"oak {filler} an old\n\toak stands by the gate {filler} gate"
    line = snippet(text, terms_of("gate oak"))
    assert "an old oak stands by the gate" in line
    assert (line[0], line[-1]) == ("…", "…")


def test_a_short_text_is_its_own_snippet() -> None:
    assert snippet("  An\n oak. ", terms_of("oak")) == "An oak."


def test_a_snippet_shows_what_was_written_and_not_what_was_indexed() -> None:
    assert snippet("Straße nach CAFÉ 登录", terms_of("cafe 登录")) == "Straße nach CAFÉ 登录"
