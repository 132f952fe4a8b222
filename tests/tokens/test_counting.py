"""How big a thing is, in tokens."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.tokens.counting import count_tokens, encoding, estimate_tokens
from coppice.tokens.measuring import compact_json, size_of_entry
from coppice.tree.entries import ENTRY


def estimate_of(**values: Any) -> int:
    return size_of_entry(
        ENTRY.validate_python({"id": "e", "parentId": None, "timestamp": "", **values})
    ).estimate


def test_the_tokenizer_loads_without_a_network() -> None:
    assert encoding() is not None
    assert count_tokens("hello world") == 2


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("😀😀", 1), ("你好吗", 1)]
)
def test_the_estimate_is_a_quarter_of_the_utf16_units_rounded_up(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text(max_size=300))
def test_any_text_can_be_counted(text: str) -> None:
    assert 0 <= count_tokens(text) <= 4 * len(text)


def test_a_lone_surrogate_can_be_counted() -> None:
    assert count_tokens("a\ud800b") > 0
    assert estimate_tokens("\ud800") == 1


def test_pieces_of_a_long_text_add_at_most_a_token_a_border() -> None:
    bpe = encoding()
    assert bpe is not None
    text = "The quick brown fox jumps over the lazy dog.\n" * 3_000
    whole = len(bpe.encode_ordinary(text))
    assert whole <= count_tokens(text) <= whole + len(text) // 20_000 + 1


@pytest.mark.parametrize(
    ("values", "tokens"),
    [
        ({"type": "message", "message": {"role": "user", "content": "x" * 9}}, 3),
        (
            {
                "type": "message",
                "message": {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "abcd"},
                        {"type": "image", "data": "", "mimeType": "a/b"},
                    ],
                },
            },
            1201,
        ),
        (
            {
                "type": "message",
                "message": {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "ab"},
                        {"type": "text", "text": "cd"},
                        {"type": "toolCall", "id": "1", "name": "ls", "arguments": {"p": 1.0}},
                    ],
                },
            },
            4,
        ),
        ({"type": "message", "message": {"role": "bashExecution", "command": "ab", "output": "cde"}}, 2),
        ({"type": "custom_message", "customType": "c", "content": "abcde", "display": True}, 2),
        ({"type": "branch_summary", "summary": "abcde", "fromId": "x"}, 2),
        ({"type": "label", "targetId": "x", "label": "abc"}, 0),
        ({"type": "custom", "customType": "abc"}, 0),
    ],
)
def test_an_entry_is_as_big_as_what_a_model_sees_of_it(values: dict[str, Any], tokens: int) -> None:
    assert estimate_of(**values) == tokens


def test_json_is_measured_as_javascript_writes_it() -> None:
    assert compact_json({"a": 1.0, "b": [1.5, "é"]}) == '{"a":1,"b":[1.5,"é"]}'


def test_json_nested_beyond_all_bounds_is_measured_all_the_same() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"d": deep}
    assert compact_json(deep) == "{}"
