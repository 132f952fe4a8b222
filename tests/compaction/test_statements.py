"""The statements of Markdown: what introduces a list stays with it, and what is left out leaves a mark."""

import pytest

from coppice.compaction.text.sentences import ELISION, whole_sentences
from coppice.compaction.text.statements import statements_of

LONG = "rows " * 200


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("Rows are read.\n\nNow:\n```\ncode\n```\nThat is slow.", ["Rows are read. […]", "That is slow."]),
        ("Run it\n```\ncode\n```\nthen wait.", ["Run it […] then wait."]),
        ("```\ncode\n```\nIt runs.\n\n| a |\n| b |\n\nIt ends.", ["[…] It runs. […]", "It ends."]),
        ("- run\n  ```\n  code\n  ```\n- wait", ["run […]; wait"]),
        (f"- read\n- {LONG}\n- write", ["read […]; write"]),
        (f"Rows:\n- {LONG}", []),
        (f"{LONG}:\n- read", ["[…] read"]),
        ("```\ncode", []),
        ("It runs.\n```\ncode", ["It runs. […]"]),
        ("## Head\n| a | b |\n- item a", ["[…] Head: item a"]),
        ("## Head\nRows:\n\n```\ncode\n```\n- item a", ["[…] item a"]),
        ("- […]\n- […]", []),
        (f"Rows:\n- […]\n- {'x' * 600}", [f"[…] Rows: {'x' * 600}"]),
        (f"{LONG}:\n- \n  ```\n  code\n  ```\n- sub", ["[…]; sub"]),
        (f"```\ncode\n```\n- {LONG}\n- sub", ["[…]; sub"]),
        ("- read […]\n- […] write", ["read […] write"]),
    ],
)
def test_what_is_left_out_leaves_a_mark(text: str, statements: list[str]) -> None:
    assert list(statements_of(text)) == statements


def test_the_end_of_a_text_that_is_too_long_leaves_a_mark() -> None:
    assert list(statements_of("Rows are read once.\n\n" * 2_000))[-1].endswith(f" {ELISION}")


def test_an_item_that_introduces_others_keeps_its_colon() -> None:
    text = "Specs:\n- Page:\n  - a button\n  - an event.\n- Scope:\n  - open rows"
    assert list(statements_of(text)) == ["Specs: Page: a button; an event; Scope: open rows"]


def test_sentences_that_do_not_fit_leave_a_mark() -> None:
    text = "Rows are read. Cells are split. Both are written."
    assert whole_sentences(text, 40) == "Rows are read. Cells are split. […]"
    assert whole_sentences(text, 34) == "Rows are read. […]"
    assert whole_sentences(f"{text}{8 * ' '}", len(text) + 4) == text
    assert whole_sentences(text, 10) == "Rows are…"
