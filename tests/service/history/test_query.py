"""What a question asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.service.history.query import MAX_STEMS, MAX_TRANSLATED, stems_asked_for


@pytest.mark.parametrize(
    ("question", "stems"),
    [
        ("Why was the batching test given up?", {"batch", "test", "given"}),
        ("parseCommand", {"parsecommand", "pars", "command"}),
        ("parse_command", {"pars", "command"}),
        ("src/step/batching.rs", {"src", "step", "batch"}),
        ("为什么压缩失败了", {"压缩", "缩失", "失败"}),
        ("what is it that they were", set()),
        ("", set()),
    ],
)
def test_a_question_asks_for_stems_and_parts(question: str, stems: set[str]) -> None:
    weights = stems_asked_for(question)
    assert {stem for stem in stems if weights.get(stem) == 1.0} == stems
    assert not {"what", "the", "it"} & weights.keys()


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
    weights = stems_asked_for(question)
    assert {stem for stem in translations if 0 < weights[stem] < 1} == translations
    assert bool(translations) == any(weight < 1 for weight in weights.values())


@given(st.text(max_size=300))
def test_any_question_asks_for_a_bounded_number_of_stems(text: str) -> None:
    weights = stems_asked_for(text)
    assert len(weights) <= MAX_STEMS + MAX_TRANSLATED
    assert all(stem and " " not in stem for stem in weights)
