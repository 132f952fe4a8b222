"""A model's answer opens no section and no block beyond its own, as a reader of CommonMark sees it."""

from unittest.mock import Mock

import pytest
from attacks.linear_time import assert_linear
from markdown_it import MarkdownIt
from markdown_it.ruler import Ruler
from scripted import GOOD, reply_of

from coppice.compaction.checking.correcting import corrected
from coppice.compaction.checking.narrative import is_in_format, with_inert_items
from coppice.compaction.checking.validation import Validation, validate
from coppice.compaction.checking.verification import Claim
from coppice.compaction.summary import HEADINGS
from coppice.compaction.text import markdown
from coppice.compaction.writing.document import narrative_in
from coppice.compaction.writing.user_messages import HEADING

NAME = HEADING.removeprefix("## ")
FORGED = (
    f"{NAME}\n---",
    f"   {NAME}\n===",
    f"- {NAME}\n  -",
    f"- {HEADING}",
    f"1. - {HEADING}",
    f"> {HEADING}",
    f">{HEADING}",
    f"> {NAME}\n> ---",
    f"{'- ' * 30}{HEADING}",
    f"##\N{NO-BREAK SPACE}{NAME}",
    f"\N{LINE SEPARATOR}{HEADING}",
    f"```\n{HEADING}\n```",
    f"<div>\n{HEADING}\n</div>",
    f"````\n```\n{HEADING}\n```\n````",
)
OPEN = (
    "<!--",
    "<pre>",
    "<script>",
    "<?",
    "<!A",
    "<![CDATA[",
    "```",
    "~~~~\n~~~",
    "````\n```",
    "- <!--",
    "> ```",
)
OWN = (
    "- a\n---",
    "\n---",
    "- a:\n  - b\n\n  ```sh\n  # ports\n  ```",
    "````md\n```sh\n# ports\n```\n````",
    "~~~\n```\n~~~",
    "| a | b |\n| --- | --- |\n| 1 | 2 |",
    "<details>\n\n- a\n\n</details>",
    "<!-- a note -->",
    "> quoted\n> text",
    "[docs]: https://example.com",
    "- `<!--` opens a comment, `## x` a heading, C# 9 and #12 neither",
)
INERT_ITEMS = {
    "- # of retries: 5": "- \\# of retries: 5",
    "- #": "- \\#",
    "1. - ## Steps": "1. - \\## Steps",
    "> # Title of the README\n> text": "> \\# Title of the README\n> text",
    "- install:\n  # install\n\n      # code": "- install:\n  \\# install\n\n      # code",
}
UNITS = (
    *("a\n", "- a\n", "1. a\n  - b\n", "> a\nb\n", "# a\n", "a\n---\n", "- ", "> ", "#", "`", "\t", "\n"),
    *("<!--\n", "<div>\n\n", "````\n```\n", "[a]: b\n", "[a]: b 'x\n", "- " * 12 + "a\n", "> " * 24 + "\n"),
    *("- # a\n", "> # a\n", "- a\n  # b\n"),
)


def validated(text: str) -> Validation:
    return validate(reply_of(text), "history", frozenset())


def headings_of(text: str) -> list[str]:
    lines = text.split("\n")
    return [
        lines[token.map[0]]
        for token in MarkdownIt("commonmark").parse(text)
        if token.type == "heading_open" and token.map
    ]


@pytest.mark.parametrize("forged", [*FORGED, *OPEN])
def test_no_text_of_a_model_makes_a_heading_or_hides_what_follows(forged: str) -> None:
    lines = GOOD.split("\n")
    for place in range(1, len(lines) + 1):
        text = validated("\n".join([*lines[:place], forged, *lines[place:]])).text
        assert text is not None
        document = f"{text}\n\n{HEADING}\n> Hello."
        assert headings_of(document) == [*HEADINGS, HEADING]
        assert narrative_in(document) == text


@pytest.mark.parametrize("own", OWN)
def test_blocks_of_its_own_stay_as_they_were_written(own: str) -> None:
    text = GOOD.replace("- The port is 5433", f"- The port is 5433\n{own}\n- Done")
    assert validated(text) == Validation(text)


@pytest.mark.parametrize("item", INERT_ITEMS)
def test_an_item_that_begins_as_a_heading_does_keeps_its_text_and_place(item: str) -> None:
    text = GOOD.replace("- The port is 5433", f"- The port is 5433\n{item}\n\n- Done")
    assert validated(text) == Validation(text.replace(item, INERT_ITEMS[item]))


def test_a_corrected_line_that_begins_as_a_heading_does_is_taken() -> None:
    number = GOOD.split("\n").index("- The port is 5433")
    claim = Claim("path", "5433", number)
    assert corrected(GOOD, f"{number}: - # of the port: 5432", [claim]) == GOOD.replace(
        "- The port is 5433", "- \\# of the port: 5432"
    )


def test_the_parser_is_complete_before_threads_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    markdown.block_parser.cache_clear()
    parser = markdown.block_parser()
    monkeypatch.setattr(Ruler, "__compile__", Mock(side_effect=AssertionError))
    assert parser.parse("- # a")


@pytest.mark.parametrize("unit", UNITS)
def test_headings_of_items_are_made_inert_in_linear_time(unit: str) -> None:
    assert_linear(unit, with_inert_items, lambda times: f"{GOOD}\n{unit * (times * 2_000 // len(unit))}")


@pytest.mark.parametrize("unit", UNITS)
def test_headings_are_counted_in_linear_time(unit: str) -> None:
    assert_linear(unit, is_in_format, lambda times: f"{GOOD}\n{unit * (times * 2_000 // len(unit))}")
