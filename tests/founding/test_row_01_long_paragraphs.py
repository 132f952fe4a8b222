"""Row 1: length alone makes nothing a paste; a long paragraph of the user's stays in the view."""

import pytest
from documents import parts_of
from scripted import ScriptedModel
from talk import edit, reply, request, user

from coppice.compaction.summary import Summary
from coppice.compaction.summary_parser import parse_summary
from coppice.compaction.text.shortening import shortened
from coppice.summarizers.llm import ModelSummarizer
from coppice.summarizers.offline import summarize_offline

SENTENCE = (
    "So what I would like is that the importer reads the rows of the shop one at a time and hands each of "
    "them to the writer before it asks for the next, because the files that we get from the warehouse have "
    "become so large that the machine runs out of memory in the middle of the night. "
)
RULE = "The writer must never hold more than one row, and the order of the rows stays as it is in the file."
DICTATED = SENTENCE * 5 + RULE


def test_a_paragraph_of_1400_characters_is_typed_and_no_paste() -> None:
    assert len(DICTATED) > 1_200
    assert shortened(DICTATED, 6_000) == DICTATED


def test_it_is_stated_after_an_offline_compaction_of_a_split_turn() -> None:
    text = summarize_offline(request([], turn=[user(DICTATED), *edit("src/importer.py")]))
    parsed = parse_summary(text)
    assert parsed.goal[0].startswith("So what I would like is that the importer reads the rows")
    assert any("must never hold more than one row" in rule for rule in parsed.constraints)


async def test_it_is_quoted_after_what_a_model_wrote() -> None:
    claim = "The writer must never hold more than one row."
    answer = Summary(goal=("Read rows in src/importer.py one at a time",), constraints=(claim,)).render()
    history = [user(DICTATED), *edit("src/importer.py"), reply("The importer reads one row now.")]
    asked = request(history)
    written = await ModelSummarizer(ScriptedModel([answer])).summarize(asked)
    assert written.text == answer
    assert f"> {DICTATED}" in parts_of(asked).messages.splitlines()


@pytest.mark.parametrize("count", [",", "٣", "1,2,", "9" * 30])
def test_a_text_that_looks_like_the_mark_does_no_harm(count: str) -> None:
    line = "a line of the paste\n" * 200
    text = shortened(f"{line}[… {count} characters left out …]\n{line}", 1_000, with_rules=False)
    assert " characters left out …]" in text


def test_the_mark_counts_the_whole_of_the_lines_that_are_left_out() -> None:
    line = "x" * 5_000 + "\n"
    text = shortened(f"Look at this.\n{line * 9}Please.", 1_000, with_rules=False)
    assert text.count("xxx…") == 2
    assert f"[… {len(line * 7) - 1:,} characters left out …]" in text


def test_the_mark_counts_what_an_earlier_mark_does() -> None:
    text = "\n".join(f"line {number} of the paste" for number in range(400))
    once = shortened(text, 2_000, with_rules=False)
    twice = shortened(once, 500, with_rules=False)
    before, mark, after = twice.partition("\n[… ")
    count, _, tail = after.partition(" characters left out …]\n")
    assert mark
    assert len(before) + len(tail) + int(count.replace(",", "")) + 2 == len(text)


@pytest.mark.parametrize(
    "paste", ["ERROR: the value must be positive\n" * 600, '{"a": 1, "never": [2, 3]}\n' * 600]
)
def test_a_paste_is_shortened_with_a_mark_and_states_no_rule(paste: str) -> None:
    text = f"What is this?\n{paste}Please never rename the exports."
    asked = request([user(text)])
    messages = parts_of(asked).messages
    assert "> What is this?" in messages
    assert "> Please never rename the exports." in messages
    assert "characters left out" in messages
    assert parse_summary(summarize_offline(asked)).constraints == ("Please never rename the exports.",)
