"""What a question asks for, and the forms it is found in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.service.history.query import parse_query, stem, stems_of


@pytest.mark.parametrize(
    ("question", "stems"),
    [
        ("Why was the batching test given up?", {"batch", "test", "given", "testgiven"}),
        ("parseCommand", {"parsecommand", "pars", "command"}),
        ("parse_command", {"pars", "command", "parsecommand"}),
        ("src/step/batching.rs", {"src", "step", "batch", "srcstep", "stepbatch", "batchingr"}),
        ("为什么压缩失败了", {"压缩", "缩失", "失败"}),
        ("what is it that they were", set()),
        ("", set()),
    ],
)
def test_a_question_asks_for_stems_parts_and_joined_words(question: str, stems: set[str]) -> None:
    found = {group.stem for group in parse_query(question).groups}
    assert stems <= found
    assert ("what" not in found, "the" not in found) == (True, True)


@pytest.mark.parametrize(
    ("question", "translations"),
    [
        ("为什么测试失败了", {"test", "fail"}),
        ("取消订阅", {"unsubscrib"}),
        ("Where is the configuration?", {"配置"}),
        ("larch", set()),
    ],
)
def test_words_of_software_work_ask_for_their_translation(question: str, translations: set[str]) -> None:
    groups = parse_query(question).groups
    assert translations == {group.stem for group in groups if group.weight < 1} & translations
    assert bool(translations) == any(group.weight < 1 for group in groups)


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
def test_the_forms_of_a_word_have_one_stem_and_are_looked_for(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1
    looked_for = {term.words[0] for term in parse_query(forms[0]).groups[0].terms}
    assert looked_for >= set(forms)


@pytest.mark.parametrize(
    ("question", "about"),
    [("Which errors came?", True), ("Which failures?", True), ("登录失败", True), ("Plan?", False)],
)
def test_questions_about_errors_are_known(question: str, *, about: bool) -> None:
    assert parse_query(question).about_errors is about


def test_a_text_is_found_by_the_parts_of_its_identifiers() -> None:
    assert {"transcript", "render"} <= set(stems_of("TranscriptRendering"))


@given(st.text(max_size=300))
def test_any_question_has_bounded_groups_of_words(text: str) -> None:
    groups = parse_query(text).groups
    assert len(groups) <= 60
    assert all(term.words and all(term.words) for group in groups for term in group.terms)
