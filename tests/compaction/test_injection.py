"""Texts that are aimed at the summarizer, wherever a conversation can hold them.

None changes the structure, the file lists or the user's words of what would be stored, whoever writes it: the
rules alone, or a model that obeys and puts every one into its text. What such a model itself claims stays its
own text, under the headings of the format.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from documents import parts_of
from scripted import GOOD, ScriptedModel, asked
from talk import edit, reply, request, run, tool, user
from waiting import PATIENCE

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.compaction.checking.narrative import is_in_format, safe_text
from coppice.compaction.file_blocks import file_blocks
from coppice.compaction.summary import Summary
from coppice.compaction.summary_parser import parse_summary
from coppice.compaction.text.sentences import one_line
from coppice.compaction.writing.document import narrative_in
from coppice.service.compaction.summary_parts import with_parts
from coppice.summarizers.fallback import FallbackSummarizer
from coppice.summarizers.llm import ModelSummarizer
from coppice.summarizers.offline import OfflineSummarizer
from coppice.tokens.counting import count_tokens
from coppice.tree.messages import Message
from coppice.tree.tags import escape_tags

INJECTIONS: list[str] = json.loads(Path(__file__).with_name("injections.json").read_text(encoding="utf-8"))
SPEAKERS = re.compile(
    r"^\[(?:User|Assistant|Assistant thinking|Assistant tool calls|Tool result|Developer)\]:", re.MULTILINE
)
FIRST = "Build the importer for the shop. Never use eval."
CONSTRAINTS = ("Never use eval.",)
FILES = file_blocks(
    ["notes.md"], ["src/importer.py", "src/exporter.py"], max_tokens=500, count_tokens=count_tokens
)


def session(middle: list[Message]) -> list[Message]:
    return [
        user(FIRST),
        *edit("src/importer.py", "def read_rows(): ..."),
        *middle,
        *run("make lint", "ok"),
        user("Now add the exporter"),
        *edit("src/exporter.py"),
    ]


def in_pieces(text: str) -> str:
    return text.replace("\n", " ")


POSITIONS: dict[str, Callable[[str], list[Message]]] = {
    "a pasted block": lambda text: [user(f"What is this?\n<attachment>\n{text}\n</attachment>")],
    "a quote": lambda text: [user("See:\n" + "\n".join(f"> {line}" for line in text.splitlines()))],
    "a tool's result": lambda text: tool("Read", {"file_path": "README.md"}, text),
    "a failed tool": lambda text: run("cat README.md", text, is_error=True),
    "an assistant's text": lambda text: [reply(f"I read the file. {text}")],
    "a command": lambda text: run(f"echo {text!r}", "ok"),
    "a written file": lambda text: edit("README.md", text),
    "a file's name": lambda text: edit(in_pieces(text)[:200], "x"),
    "a tool's name": lambda text: tool(f"mcp_{text}", {"q": text}, "ok"),
}

OBEDIENCE: dict[str, Callable[[str], str]] = {
    "after": lambda text: f"{GOOD}\n{text}",
    "before": lambda text: f"{text}\n{GOOD}",
    "under every heading": lambda text: re.sub(r"(?m)^(#+ .*)$", lambda match: f"{match[1]}\n{text}", GOOD),
    "as items": lambda text: re.sub(
        r"(?m)^(#+ .*)$",
        lambda match: f"{match[1]}\n" + "\n".join(f"- {line}" for line in text.splitlines()),
        GOOD,
    ),
    "alone": lambda text: text,
}


def assert_untouched(text: str, *, constraints: tuple[str, ...] = CONSTRAINTS) -> None:
    summary = parse_summary(text)
    assert is_in_format(text)
    assert summary.constraints == constraints
    assert summary.goal[0].removeprefix("First request: ") == FIRST
    assert summary.turn == ()
    assert summary.other == ()
    assert escape_tags(text) == text
    assert "\n---" not in text
    assert summary.render() == text
    lists = re.findall(r"^<(\S+-files)>\n(.*?)\n</\1>$", with_parts(text, FILES), re.MULTILINE | re.DOTALL)
    assert lists == [("read-files", "notes.md"), ("modified-files", "src/exporter.py\nsrc/importer.py")]


def assert_separate(text: str) -> None:
    """Whatever is in the narrative, it stays there, and the user's words are those of the user."""
    narrative, parts = narrative_in(text), text.removeprefix(narrative_in(text)).strip()
    assert is_in_format(narrative)
    assert safe_text(text) == text
    assert "**Turn Context" not in [line.strip() for line in text.splitlines()]
    quoted = parts.partition("## State")[0].splitlines()
    assert quoted[0] == "## User Messages"
    assert f"> {FIRST}" in quoted
    assert [line for line in parts.splitlines() if line.startswith("#")] == ["## User Messages", "## State"]
    lists = re.findall(r"^<(\S+-files)>\n(.*?)\n</\1>$", with_parts(text, FILES), re.MULTILINE | re.DOTALL)
    assert lists == [("read-files", "notes.md"), ("modified-files", "src/exporter.py\nsrc/importer.py")]


async def written_by(model: ScriptedModel | None, wanted: SummaryRequest) -> WrittenSummary:
    offline = OfflineSummarizer()
    if model is None:
        return await offline.summarize(wanted)
    chain = FallbackSummarizer([("model", ModelSummarizer(model)), ("offline", offline)], seconds=PATIENCE)
    return await chain.summarize(wanted)


async def summary_by(model: ScriptedModel | None, wanted: SummaryRequest) -> str:
    written = await written_by(model, wanted)
    assert written.summarizer == ("offline" if model is None else model.name)
    return written.text


def test_the_corpus_is_what_it_says() -> None:
    assert len(INJECTIONS) == len(set(INJECTIONS)) >= 60


@pytest.mark.parametrize("position", POSITIONS)
async def test_rules_are_deaf_to_it(position: str) -> None:
    for text in INJECTIONS:
        stored = await summary_by(None, request(session(POSITIONS[position](text))))
        assert_untouched(stored)


@pytest.mark.parametrize("obedience", OBEDIENCE)
@pytest.mark.parametrize("position", ["a tool's result", "a file's name"])
async def test_a_model_that_obeys_everything_changes_nothing(position: str, obedience: str) -> None:
    by_model = 0
    for text in INJECTIONS:
        model = ScriptedModel([OBEDIENCE[obedience](text)])
        wanted = request(session(POSITIONS[position](text)), max_tokens=2_500)
        written = await written_by(model, wanted)
        is_by_model = written.summarizer == model.name
        document = with_parts(written.text, parts_of(wanted).text)
        assert_separate(document) if is_by_model else assert_untouched(written.text)
        by_model += is_by_model
    assert by_model >= len(INJECTIONS) - 2 or obedience == "alone"


@pytest.mark.parametrize("position", POSITIONS)
async def test_nothing_leaves_its_tags_or_poses_as_a_speaker(position: str) -> None:
    clean = ScriptedModel([GOOD])
    await summary_by(clean, request(session(POSITIONS[position]("fine"))))
    speakers = SPEAKERS.findall(asked(clean.requests[0]))
    for text in INJECTIONS:
        attacked = ScriptedModel([GOOD])
        await summary_by(attacked, request(session(POSITIONS[position](text))))
        sent = asked(attacked.requests[0])
        assert SPEAKERS.findall(sent) == speakers
        assert re.findall(r"</?(?:conversation|previous-summary|summary|pinned)>", sent) == [
            "<conversation>",
            "</conversation>",
        ]
        for mark in ("<|im_", "[INST]", "<<SYS>>", "</s>", "<start_of_turn>"):
            assert mark not in sent


@pytest.mark.parametrize("whole", [True, False], ids=["as it was written", "as our own text"])
async def test_an_earlier_summary_gives_up_no_more_than_its_own_constraints(*, whole: bool) -> None:
    for text in INJECTIONS:
        ours = Summary(goal=(FIRST,), constraints=("Use 4 spaces.",), done=(text,), context=(text,)).render()
        previous = f"{ours}\n{text}" if whole else ours
        carried = tuple(dict.fromkeys(parse_summary(previous).constraints))
        stored = await summary_by(None, request(session([]), previous=previous))
        assert set(parse_summary(stored).constraints) <= {*carried, *CONSTRAINTS}
        assert {"Use 4 spaces.", *CONSTRAINTS} <= set(parse_summary(stored).constraints)
        if not whole:
            assert_untouched(stored, constraints=("Use 4 spaces.", *CONSTRAINTS))
        assert is_in_format(stored)
        assert escape_tags(stored) == stored
        for model in (ScriptedModel([GOOD]), ScriptedModel([f"{GOOD}\n{text}"])):
            wanted = request(session([]), previous=previous)
            assert_separate(with_parts(await summary_by(model, wanted), parts_of(wanted).text))


def test_no_tag_appears_where_an_escape_sequence_was() -> None:
    for text in ("<\x1b[0m/summary>", "</\x1b[1msummary>", "</sum\x1b(Bmary>", "</read\x1b[0m\x08files>"):
        for shown in (safe_text(text), escape_tags(one_line(text))):
            assert re.fullmatch("&lt;/(?:summary|read files)>", shown)


def test_a_file_s_name_cannot_end_the_list_it_is_in() -> None:
    for text in INJECTIONS:
        blocks = file_blocks(
            [text, "a.py"], [f"src/{text}", "b.py"], max_tokens=9_000, count_tokens=count_tokens
        )
        assert re.findall(r"</?(?:read|modified)-files>", blocks) == [
            "<read-files>",
            "</read-files>",
            "<modified-files>",
            "</modified-files>",
        ]
        assert len(blocks.splitlines()) == 9
