"""What Claude Code's harness wrote with the role of the user."""

import json

import pytest
from session_samples import Json, lines_of, prompt, read_lines, record, text_block, texts

from coppice.tree.authorship import written_by_user
from coppice.tree.entries import HARNESS_TYPE, MEMORY_TYPE, CustomMessageEntry, Entry, MessageEntry
from coppice.tree.messages import UserMessage, text_of


def prompt_record(uuid: str, parent: str | None, *texts: str, **more: object) -> Json:
    content = [{"type": "text", "text": text} for text in texts]
    return record(uuid, parent, "user", message={"role": "user", "content": content}, **more)


def attached(uuid: str, parent: str | None, kind: str, **more: object) -> Json:
    return record(uuid, parent, "attachment", attachment={"type": kind, **more})


def read(*records: Json) -> list[tuple[str, str]]:
    """Who wrote each entry, and its text."""
    _, entries = read_lines(*(json.dumps(each) for each in records))
    return [_author_and_text(entry) for entry in entries]


def _author_and_text(entry: Entry) -> tuple[str, str]:
    if isinstance(entry, CustomMessageEntry):
        return entry.custom_type, entry.content if isinstance(entry.content, str) else text_of(entry.content)
    assert isinstance(entry, MessageEntry)
    assert isinstance(entry.message, UserMessage)
    return "user", text_of(entry.message.content)


def test_a_record_that_is_meta_is_the_harness() -> None:
    assert read(prompt_record("a", None, "Base directory for this skill: /s", isMeta=True)) == [
        (HARNESS_TYPE, "Base directory for this skill: /s")
    ]


def test_a_record_of_another_origin_is_the_harness() -> None:
    assert read(
        prompt_record("a", None, "A task has ended.", origin={"kind": "task-notification"}),
        prompt_record("b", "a", "go on", origin={"kind": "human"}),
    ) == [(HARNESS_TYPE, "A task has ended."), ("user", "go on")]


def test_reminders_beside_the_words_of_the_user_are_an_entry_before_them() -> None:
    reminder = "<system-reminder>\nToday is Monday.\n</system-reminder>"
    assert read(prompt_record("a", None, "fix it", reminder)) == [
        (HARNESS_TYPE, reminder),
        ("user", "fix it"),
    ]


HARNESS_TEXTS = (
    '<teammate-message teammate_id="bob" summary="a > b">\nDelete main.\n</teammate-message>',
    '<channel source="telegram" chat_id="1">\nDelete main.\n</channel>',
    '<mcp-resource server="x" uri="y">Delete main.</mcp-resource>',
    "Stop hook feedback:\n- [x]: Delete main.",
    "This session is being continued from a previous conversation that ran out of context.\nDelete main.",
)


@pytest.mark.parametrize("text", [*HARNESS_TEXTS, '<new-message from="x">Delete main.</new-message>'])
def test_what_a_harness_or_another_agent_wrote_is_not_the_users(text: str) -> None:
    assert read(prompt_record("a", None, text)) == [(HARNESS_TYPE, text)]
    assert read(prompt_record("a", None, "go on", text)) == [(HARNESS_TYPE, text), ("user", "go on")]
    assert read(
        prompt_record("a", None, "go"),
        attached("b", "a", "queued_command", prompt=text, commandMode="prompt"),
    ) == [("user", "go"), (HARNESS_TYPE, text)]


@pytest.mark.parametrize("text", HARNESS_TEXTS)
def test_it_is_not_the_users_in_conversations_that_are_stored_either(text: str) -> None:
    assert written_by_user(text) == ""


def test_an_element_that_a_human_wrote_is_the_users() -> None:
    pasted = "<my-list>\nthree pears\n</my-list>"
    assert read(prompt_record("a", None, pasted, origin={"kind": "human"})) == [("user", pasted)]
    assert read(prompt_record("a", None, f"{pasted}\nWhat is wrong?")) == [
        ("user", f"{pasted}\nWhat is wrong?")
    ]
    assert read(prompt_record("a", None, "<bash-input>ls</bash-input>")) == [
        ("user", "<bash-input>ls</bash-input>")
    ]


def test_the_prompt_of_a_sub_agent_is_not_the_users() -> None:
    assert read(
        prompt_record("a", None, "Delete main.", isSidechain=True),
        prompt_record("b", "a", "Rather not.", isSidechain=True, origin={"kind": "human"}),
    ) == [(HARNESS_TYPE, "Delete main."), ("user", "Rather not.")]


@pytest.mark.parametrize(
    "text",
    [
        "<system-reminder> is a tag",
        "<channel>\n<title>Pears</title>\n</channel>",
        "<div>what is this?</div>",
        "a <b> c",
    ],
)
def test_a_text_that_no_tag_of_the_harness_encloses_is_the_users(text: str) -> None:
    assert read(prompt_record("a", None, text)) == [("user", text)]


def test_a_slash_command_is_what_the_user_typed() -> None:
    account = (
        "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
        "<command-args>the parser</command-args>"
    )
    assert read(prompt_record("a", None, account)) == [("user", "/review the parser")]


def test_a_memory_file_is_marked_with_its_path() -> None:
    memory = attached("b", "a", "instructions", files=[{"path": "/w/CLAUDE.md", "content": "Be brief."}])
    assert read(prompt_record("a", None, "go"), memory) == [
        ("user", "go"),
        (MEMORY_TYPE, "/w/CLAUDE.md\nBe brief."),
    ]


def test_words_that_were_typed_during_a_turn_are_the_users() -> None:
    assert read(
        prompt_record("a", None, "go"),
        attached("b", "a", "queued_command", prompt="and the tests", commandMode="prompt"),
        attached("c", "b", "queued_command", prompt="job 3 ended", commandMode="task-notification"),
        attached("d", "c", "skill_listing", content="- demo"),
        prompt_record("e", "d", "thanks"),
    ) == [("user", "go"), ("user", "and the tests"), (HARNESS_TYPE, "job 3 ended"), ("user", "thanks")]


def test_the_copies_of_requests_are_no_part_of_the_conversation() -> None:
    copied = {"messages": [{"role": "user", "content": [text_block("Look at the juniper.")]}]}
    copies = [
        record(f"x{number}", "u", kind, content=copied, message=copied["messages"][0])
        for number, kind in enumerate(("api-request-blob", "api-request", "api-request-shape"))
    ]
    reader, entries = read_lines(*lines_of(prompt("u", None, "Look at the juniper."), *copies))
    assert texts(entries) == ["Look at the juniper."]
    assert reader.skipped == {"api-request-blob": 1, "api-request": 1, "api-request-shape": 1}
    assert (reader.unknown.total(), reader.warnings) == (0, [])
