"""Secrets in what programs print around and within them: colours, escapes, characters that are not shown."""

import json
from pathlib import Path

import pytest
from mcp_server.conftest import Start, assistant, result, stored, user
from mcp_server.sample_secrets import FORMS, HIDDEN, SECRETS

from coppice.redaction import MARK, masked, with_marks

KEYS = [*SECRETS.values(), *(f"{form}{'a' * 64}" for form in FORMS)]
CONTEXTS = {
    "alone": "{}",
    "at a line's start": "keys:\n{}",
    "in quotes": "'{}'",
    "after an equals sign": "KEY={}",
    "in a name": "MY_{}",
    "in a colour": "conf:\x1b[01;31m\x1b[K{}\x1b[m",
    "in a colour after a word": "old\x1b[m\x1b[32m{}\x1b[0m",
    "in a colour that lost its escape character": "[31m{}[0m",
    "in a colour as it is written": r"a\u001b[31m{}\u001b[0m",
    "in a link": "\x1b]8;;https://trees.example\x1b\\{}\x1b]8;;\x07",
    "after a written line end": r"keys:\n{}\n",
    "after a line end written in JSON within JSON": r"keys:\\\\n{}\\\\t",
    "after a written quote": r"\u0022{}\u0022",
    "in an address": "?k%3D{}%26",
    "after a hidden character": "key\u200b{}\ufeff",
}
INSERTED = {
    "a colour's end": "\x1b[m",
    "a colour": "\x1b[01;31m\x1b[K",
    "a colour as it is written": r"\u001b[m",
    "a hidden character": "\u200b",
    "a soft hyphen": "\u00ad",
    "a null": "\0",
}


def hidden_places(text: str) -> set[int]:
    return {place for place, char in enumerate(masked(text)) if char != text[place]}


@pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS.keys())
@pytest.mark.parametrize("secret", KEYS)
def test_a_secret_is_recognized_in_every_context(secret: str, context: str) -> None:
    start = context.index("{}")
    expected = {start + place for place in hidden_places(secret)}
    assert expected
    assert expected <= hidden_places(context.format(secret))


@pytest.mark.parametrize("inserted", INSERTED.values(), ids=INSERTED.keys())
@pytest.mark.parametrize("secret", KEYS)
def test_a_secret_is_recognized_with_something_unseen_at_any_place_within_it(
    secret: str, inserted: str
) -> None:
    places = hidden_places(secret)
    for at in range(1, len(secret)):
        expected = {place + len(inserted) * (place >= at) for place in places}
        assert expected <= hidden_places(f"{secret[:at]}{inserted}{secret[at:]}"), secret[at:]


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
def test_a_secret_is_recognized_in_json_within_json(secret: str, depth: int) -> None:
    text = f'keys:\n{secret}\n\t"\x1b[31m{secret}\x1b[m"\n'
    for _ in range(depth):
        text = json.dumps({"content": text})
    shown = with_marks(masked(text))
    assert [part for part in HIDDEN if part in shown] == []
    assert shown.startswith('{"content": "')


@pytest.mark.parametrize(
    "text",
    [
        r"C:\new\tables\x86\readme_sk_notes.txt",
        "get_pk_columns_of_the_table_2, orders_rk_by_customer_and_day_2026",
        "\x1b[32m+def test_that_the_session\x1b[m_of_the_first_user_is_kept_2() -> None:\x1b[m",
        "https://example.org/a%20b?c=%7B%22token%22%3A%20null%7D",
        '{"a": "\\u001b[31mFAILED\\u001b[0m tests/test_login.py::test_token\\n"}',
    ],
)
def test_escapes_make_no_secret_of_ordinary_text(text: str) -> None:
    assert masked(text) == text


def test_keys_in_colours_and_in_arguments_of_tools_do_not_come_out(start: Start, folder: Path) -> None:
    written = {"path": "walnut.txt", "content": "\n".join(["walnut", *SECRETS.values()])}
    coloured = "\n".join(f"walnut \x1b[01;31m\x1b[K{secret}\x1b[m" for secret in SECRETS.values())
    stored(
        folder,
        [
            user("disguised-1", "walnut"),
            assistant("disguised-2", "", ("c", "write", written)),
            result("disguised-3", "c", coloured),
        ],
    )
    client = start()
    shown = [
        client.call("history_search", query="walnut", maxTokens=20_000),
        client.call("history_read", ids=["disguised-2"]),
        client.call("history_read", ids=["disguised-3"]),
        client.call("history_overview"),
    ]
    for text in shown:
        assert [secret for secret in HIDDEN if secret in text] == []
    assert MARK in shown[1]
