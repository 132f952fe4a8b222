import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from session_samples import TIME, trees

from coppice.formats.markdown import code, fenced, prose
from coppice.formats.markdown import write as write_session
from coppice.formats.session import SessionHeader
from coppice.tree.entries import ENTRY, Entry

HEADER = SessionHeader("coppice", "k", name="Moving <settings>", cwd="/home/me/app", created_at=TIME)


def markdown_of(*messages: dict[str, object]) -> str:
    entries = [
        ENTRY.validate_python(
            {"type": "message", "id": f"e{n}", "parentId": None, "timestamp": TIME, "message": message}
        )
        for n, message in enumerate(messages)
    ]
    return "".join(write_session(HEADER, entries))


def open_fences(text: str) -> list[str]:
    """The fences still open at the end of each fold, as CommonMark sees them."""
    fence, left = "", []
    for line in text.split("\n"):
        match = re.fullmatch(r" {0,3}(`{3,}|~{3,})(.*)", line)
        if match and not fence and not (match[1][0] == "`" and "`" in match[2]):
            fence = match[1]
        elif (
            match
            and fence
            and match[1][0] == fence[0]
            and len(match[1]) >= len(fence)
            and not match[2].strip()
        ):
            fence = ""
        elif line == "</details>" and fence:
            left.append(fence)
    return [*left, fence] if fence else left


def test_a_conversation_has_title_roles_and_folds() -> None:
    text = markdown_of(
        {"role": "user", "content": "Read it."},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I do."},
                {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "a.py"}},
            ],
        },
        {
            "role": "toolResult",
            "toolCallId": "c",
            "toolName": "read",
            "content": [{"type": "text", "text": "x = 1"}],
            "isError": False,
        },
    )
    assert text.startswith("# Moving &lt;settings&gt;\n")
    assert "## User\n\nRead it." in text
    assert "## Assistant\n\nI do." in text
    assert '<summary>Tool call: read</summary>\n\n```json\n{\n  "path": "a.py"\n}\n```\n\n</details>' in text
    assert "<summary>read: result</summary>\n\n```\nx = 1\n```\n\n</details>" in text


def test_a_long_result_says_how_much_is_left_out() -> None:
    content = [{"type": "text", "text": "a" * 5000 + "z" * 5000}]
    text = markdown_of(
        {"role": "toolResult", "toolCallId": "c", "toolName": "bash", "content": content, "isError": True}
    )
    assert "bash: failed" in text
    assert "[… 8,000 characters left out …]" in text
    assert text.count("a" * 100) == 15
    assert "z" * 500 in text


def test_a_compaction_is_quoted() -> None:
    compaction = {
        "type": "compaction",
        "id": "k",
        "parentId": None,
        "timestamp": TIME,
        "summary": "## Goal\nMove on",
        "tokensBefore": 12345,
    }
    text = "".join(write_session(HEADER, [ENTRY.validate_python(compaction)]))
    assert "> **Compaction** of 12,345 tokens" in text
    assert "> ## Goal\n> Move on" in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("```\nopen", "```\nopen\n```"),
        ("~~~~ py\nopen\n~~~", "~~~~ py\nopen\n~~~\n~~~~"),
        ("</details> `<b>` <i>", "&lt;/details> `<b>` &lt;i>"),
        ("```\n<b>\n```", "```\n<b>\n```"),
        ("`` a ` <x> `` <y>", "`` a ` <x> `` &lt;y>"),
    ],
)
def test_prose_closes_what_it_opens(text: str, shown: str) -> None:
    assert prose(text) == shown


@pytest.mark.parametrize(("text", "shown"), [("a", "`a`"), ("a`b", "`` a`b ``"), ("a\nb", "`a b`")])
def test_code_is_set_in_enough_backticks(text: str, shown: str) -> None:
    assert code(text) == shown


ROUGH = st.text(st.sampled_from("`~<>/details \n!-#x"), max_size=60)


@given(ROUGH)
def test_nothing_in_a_fence_can_close_it(text: str) -> None:
    lines = fenced(text).split("\n")
    assert lines[1:-1] == text.rstrip().split("\n")
    assert all(not line.strip().startswith(lines[0]) for line in lines[1:-1])


@given(ROUGH, ROUGH, ROUGH)
def test_what_a_message_says_cannot_close_a_fold_or_leave_a_fence_open(
    content: str, thought: str, output: str
) -> None:
    text = markdown_of(
        {"role": "user", "content": content},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": content}, {"type": "thinking", "thinking": thought}],
        },
        {
            "role": "toolResult",
            "toolCallId": "c",
            "toolName": "bash",
            "content": [{"type": "text", "text": output}],
            "isError": False,
        },
    )
    assert open_fences(text) == []


@given(trees())
def test_every_conversation_can_be_shown(entries: list[Entry]) -> None:
    assert "".join(write_session(HEADER, entries)).startswith("# Moving")


@pytest.mark.parametrize(
    "text",
    [
        "Done.\n\n## User\n\nPush to main.",
        "Done.\n\n   ##   User\n\nPush to main.",
        "Done.\n\nUser\n---\n\nPush to main.",
        "Done.\n\nUser\n  -----  \nPush to main.",
        "1. Run\n   ```\n   make\n## User\n\nPush to main.",
        "```\nmake\n```\n## User\nPush to main.",
    ],
)
def test_a_text_cannot_write_the_heading_of_a_message(text: str) -> None:
    page = MarkdownIt().parse("## Assistant\n\n" + prose(text, deeper=2))
    titles = [
        after.content for token, after in pairwise(page) if token.type == "heading_open" and token.tag == "h2"
    ]
    assert titles == ["Assistant"]


def test_headings_of_a_text_are_deeper_and_its_code_is_unchanged() -> None:
    text = "# Plan\n\n---\n\n```sh\n# make it\n```\n\n###### Deep\n#123 is no heading"
    assert prose(text, deeper=2) == text.replace("# Plan", "### Plan", 1)
