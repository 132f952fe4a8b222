"""Exact claims of a text that its sources do not show are named, and no others."""

import pytest

from coppice.compaction.checking.correcting import corrected, lines_to_correct
from coppice.compaction.checking.verification import Claim, claims_in, unsupported
from coppice.compaction.summary import HEADINGS

EVIDENCE = [
    'edit(path="src/shop/importer.py", new="def read_rows(): ...")',
    "[main 3f2a91c] Add the importer\\n 2 files changed",
    "cd web && ls\napp.ts  index.css",
    "12 passed, 1 failed in 3.40s. 1,204 rows",
    "[User]: The rows must come\nin the order of the file, whatever happens.",
    '{"output": "wrote docs/plan.md\\\\nand docs/notes.md"}',
    "请不要修改这个目录下的文件",
]


def names_of(text: str) -> list[tuple[str, str]]:
    return [(claim.kind, claim.text) for claim in unsupported(text, EVIDENCE, {"26c4206e"})]


@pytest.mark.parametrize(
    "text",
    [
        "Committed 3f2a91c. [#26c4206e]",
        "`src/shop/importer.py` holds read_rows; so does shop/importer.py:42.",
        "web/app.ts was read, and docs/plan.md and docs/notes.md were written.",
        "12 passed and 1 failed in 3.4 s, of 1204 lines.",
        'The user: "the rows must come in the order of the file … whatever happens".',
        "用户说「不要修改这个目录下的文件」。",
        "See https://example.com/a/b.html, *.py, and/or `x` in {a,b}/c.",
        "Every rule, decision and finding.",
    ],
)
def test_what_a_source_shows_is_no_finding(text: str) -> None:
    assert names_of(text) == []


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Committed 3f2a91d.", ("hash", "3f2a91d")),
        ("Committed 3f2a91c04.", ("hash", "3f2a91c04")),
        ("The fix is in src/shop/exporter.py.", ("path", "src/shop/exporter.py")),
        ("It holds one row. [#deadbeef]", ("reference", "deadbeef")),
        ("All 57 tests pass.", ("number", "57")),
        ("It takes 40 ms.", ("number", "40")),
        (
            'The user: "never touch the order".',
            ("quotation", "never touch the order"),
        ),
        ("用户说「可以修改所有的文件」。", ("quotation", "可以修改所有的文件")),
    ],
)
def test_what_no_source_shows_is_named(text: str, claim: tuple[str, str]) -> None:
    assert names_of(text) == [claim]


def test_what_is_between_two_quotations_is_none() -> None:
    assert [each.text for each in claims_in('"one" is called by the user "two" or so')] == []


def test_only_names_are_sent_back() -> None:
    claims = [Claim("path", "a/b.py", 1), Claim("number", "57", 2), Claim("hash", "3f2a91d", 1)]
    assert lines_to_correct("x\nin a/b.py\n57 tests", claims) == "1: in a/b.py\n   nowhere: a/b.py, 3f2a91d"


def test_an_answer_replaces_the_lines_that_were_asked_about_and_no_other() -> None:
    text = "\n".join(f"{heading}\n- in a/b.py" for heading in HEADINGS)
    claims = [Claim("path", "a/b.py", 1)]
    better = text.replace("- in a/b.py", "- in c.py", 1)
    assert corrected(text, "Sure!\n1: - in c.py\n3: - in d.py\n99: x", claims) == better
    assert corrected(text, "1: ## Goal", claims) == text
    assert corrected(text, "", claims) == text
    assert "&lt;/summary>" in corrected(text, "1: - </summary>\x00", claims)


UNITS = ["a/", "a.", "3f2a91c ", "1,", "9999999a", '"', "“", "中", "[#a", "a b ", "\\n", "/.", "3 ms "]


@pytest.mark.timeout(200)
@pytest.mark.parametrize("unit", UNITS)
def test_half_a_megabyte_of_anything_is_compared_at_once(unit: str) -> None:
    text = unit * (500_000 // len(unit))
    assert len(unsupported(text, [text, "x"])) <= 2_000
    assert len(unsupported("\n".join([text[:5_000]] * 100), [text])) <= 2_000
