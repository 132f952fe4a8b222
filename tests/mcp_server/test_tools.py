"""What the five tools give."""

import json
from pathlib import Path

import pytest
from mcp_server.conftest import (
    NOW,
    OTHER_SESSION,
    SESSION,
    Message,
    Start,
    assistant,
    result,
    stored,
    url_of,
    user,
)
from session_samples import prompt

from coppice.store.store import Store
from coppice.tokens.counting import count_tokens


def test_a_hit_has_its_id_time_speaker_and_call(start: Start, sessions: Path) -> None:
    text = start().call("history_search", query="ZeroDivisionError remember_visitor")
    assert 'id="login-5" time="2026-09-01T08:00" from="tool Bash, failed"' in text
    assert f'session="codex {OTHER_SESSION}"' in text
    assert "$ pytest tests/test_login.py\nBash\nE  ZeroDivisionError in remember_visitor" in text
    assert f"codex resume {OTHER_SESSION}" in text


def test_the_running_session_comes_first_and_the_project_where_it_holds_little(
    start: Start, sessions: Path
) -> None:
    client = start(CLAUDE_CODE_SESSION_ID=SESSION)
    here = client.call("history_search", query="Does the export write semicolons or commas?")
    assert "never with commas" in here
    assert "in this session" in here
    assert "login" not in here
    elsewhere = client.call("history_search", query="Where did the division by zero come from?")
    assert "empty basket" in elsewhere
    assert "in this project" in elsewhere
    only_here = client.call("history_search", query="division by zero basket", scope="session")
    assert (
        "Nothing found for 'division by zero basket' in 1 conversation, 4 entries since 2026-10-01"
        in only_here
    )


def test_hits_of_the_session_that_hold_little_do_not_fill_the_page(start: Start, sessions: Path) -> None:
    noise = [
        f"Zero {name} by the wall, and {number} more." for number, name in enumerate(("fern", "moss") * 30)
    ]
    stored(sessions, [user(f"noise-{n}", text) for n, text in enumerate(noise)], session="noisy-session")
    client = start("--session", "noisy-session")
    text = client.call("history_search", query="Where did the division by zero come from?", maxTokens=600)
    assert "empty basket" in text


def test_a_session_given_as_an_option_is_the_running_one(start: Start, sessions: Path) -> None:
    text = start("--session", OTHER_SESSION).call("history_search", query="cookie", scope="session")
    assert "I looked at the cookie" in text
    assert "session=" not in text


def test_absence_is_stated_with_what_was_looked_through(start: Start, sessions: Path) -> None:
    text = start().call("history_search", query="kubernetes ingress")
    assert text == "Nothing found for 'kubernetes ingress' in 2 conversations, 10 entries since 2026-09-01."


def test_an_empty_project_says_that_nothing_is_stored(start: Start) -> None:
    client = start()
    assert "0 conversations, 0 entries. Nothing of this project is stored yet." in client.call(
        "history_search", query="a word"
    )
    assert client.call("history_overview") == "Nothing is stored for this project yet."
    assert client.call("note_list") == "This project has no notes yet. note_add adds one."


@pytest.mark.parametrize(
    "query",
    [
        'AND OR NOT "',
        "NEAR(a b)",
        'what\'s "wrong" with login?',
        "*",
        "(((",
        "登录 login",
        "-x:y^2",
        "",
        "?!",
    ],
)
def test_no_question_fails_on_its_syntax(start: Start, sessions: Path, query: str) -> None:
    assert start().call("history_search", query=query)


def test_filters_bound_what_is_found(start: Start, sessions: Path) -> None:
    client = start()

    def search(**filters: object) -> str:
        return client.call("history_search", query="login page cookie division export visitor", **filters)

    assert 'from="user"' in search(role="user")
    assert 'from="assistant"' not in search(role="user")
    assert "Nothing found" in search(role="user", kind="command")
    assert 'id="login-5"' in search(kind="error")
    assert 'id="login-6"' not in search(kind="error")
    assert 'id="login-2"' in search(kind="edit")
    assert 'id="login-6"' not in search(kind="edit")
    assert "export-" not in search(agent="codex")
    assert "login-" not in search(since="2026-09-15")
    assert "export-" not in search(until="2026-09-15")
    assert "export-" not in search(path="src/login.py")
    assert 'id="login-2"' in search(path="src/login.py")


def test_summaries_are_found_alone(start: Start, folder: Path) -> None:
    summary = {"type": "branch_summary", "fromId": "plum-1", "summary": "The plum stands by the wall."}
    stored(folder, [user("plum-1", "Plant the plum by the wall."), {"id": "plum-2", **summary}])
    text = start().call("history_search", query="plum wall", kind="summary")
    assert 'id="plum-2"' in text
    assert 'id="plum-1"' not in text


def test_pages_hold_each_hit_once_and_keep_to_their_tokens(start: Start, folder: Path) -> None:
    words = [f"The {name} tree is planted in bed {number}." for number, name in enumerate("abcdefghij" * 3)]
    stored(folder, [user(f"tree-{number}", text * 3) for number, text in enumerate(words)])
    client, seen, cursor = start(), [], None
    for _ in range(40):
        more: dict[str, str] = {} if cursor is None else {"cursor": cursor}
        text = client.call(
            "history_search", query="Which tree is planted in which bed?", maxTokens=300, **more
        )
        assert count_tokens(text) < 450
        seen += [part.split('"')[0] for part in text.split('id="')[1:]]
        if "More: cursor" not in text:
            break
        cursor = text.split('cursor "')[1].split('"')[0]
    assert len(seen) == len(set(seen)) >= 20


def test_entries_are_read_with_their_neighbours_and_edits_as_diffs(start: Start, sessions: Path) -> None:
    client = start()
    several = client.call("history_read", ids=["login-6", "[#login-1]", "nothing-like-it"])
    assert "empty basket" in several
    assert "thirty days" in several
    assert "No entry of this project has the id nothing-like-it." in several
    around = client.call("history_read", around="login-3", before=1, after=1)
    assert [line[19:26] for line in around.splitlines() if line.startswith("<history-entry")] == [
        "login-2",
        "login-3",
        "login-4",
    ]
    assert "-max_age = 60\n+max_age = 2592000\n" in around
    assert "a = 1" not in around
    end = client.call("history_read", session=SESSION, before=1)
    assert "names of the columns" in end
    assert "semicolons" not in end


CHANGES = "@@\n-max_age = 60\n+max_age = 2592000\n+a = 'b'\n"
PATCH = f"*** Begin Patch\n*** Update File: src/login.py\n{CHANGES}*** End Patch\n"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("edit", {"filePath": "src/login.py", "oldString": "max_age = 60", "newString": "max_age = 2592000"}),
        ("apply_patch", {"input": PATCH}),
        ("apply_patch", {"patchText": PATCH}),
        ("exec_command", {"cmd": f"apply_patch <<'END'\n{PATCH}END", "workdir": "/work"}),
        ("shell", {"command": ["apply_patch", PATCH]}),
    ],
)
def test_the_edits_of_each_agent_are_read_as_diffs(
    tool: str, arguments: Message, start: Start, folder: Path
) -> None:
    stored(folder, [assistant("an-edit-1", "", ("c1", tool, arguments))])
    text = start().call("history_read", ids=["an-edit-1"])
    assert "\n-max_age = 60\n+max_age = 2592000\n" in text
    assert "src/login.py" in text
    assert "'\"'" not in text


def test_a_long_entry_is_read_in_pages_without_a_gap(start: Start, folder: Path) -> None:
    text = "\n".join(f"line {number} of the long text" for number in range(400))
    stored(folder, [user("long-text-1", text)])
    client, parts, cursor = start(), [], "0:0"
    while cursor:
        page = client.call("history_read", ids=["long-text-1"], cursor=cursor, maxTokens=500)
        parts.append(page.split(">\n", 1)[1].split("\n</history-entry>")[0])
        cursor = page.split('with cursor "')[1].split('"')[0] if "There is more" in page else ""
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert len(parts) > 3


def test_an_id_that_begins_like_several_names_them(start: Start, folder: Path) -> None:
    stored(folder, [user("same-beginning-1", "one"), user("same-beginning-2", "two")])
    text = start().call("history_read", ids=["same-beginning"])
    assert "same-beginning-1" in text
    assert "same-beginning-2" in text


def test_the_overview_has_the_running_session_and_then_the_newest(start: Start, sessions: Path) -> None:
    text = start("--session", SESSION).call("history_overview")
    assert text.index("this one") < text.index(f"codex {OTHER_SESSION}")
    assert "never with commas" in text
    assert f'resume="codex resume {OTHER_SESSION}"' in text
    assert "export" not in start().call("history_overview", agent="codex")
    only = start().call("history_overview", session=OTHER_SESSION)
    assert "thirty days" in only
    assert "export" not in only


def test_the_overview_keeps_to_its_tokens(start: Start, folder: Path) -> None:
    for number in range(20):
        asked = [
            user(f"request-{number}-{each}", f"Please build part {number}.{each} of the shed, with a door.")
            for each in range(9)
        ]
        stored(folder, asked, session=f"session-number-{number:04}")
    text = start().call("history_overview", maxTokens=900)
    assert count_tokens(text) <= 1000
    assert text.count("<history-session") >= 4
    assert "of 20 conversations" in text


def test_notes_last_and_tell_who_wrote_them(start: Start, sessions: Path) -> None:
    client = start()
    client.result(
        "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "pine-agent"}
    )
    assert "Noted" in client.call("note_add", text="Releases are cut on Tuesdays.")
    client.close()
    other = start("--agent", "oak-agent")
    other.call("note_add", text="The larch server is for staging.")
    listed = other.call("note_list")
    assert 'author="pine-agent">\nReleases are cut on Tuesdays.\n</history-note>' in listed
    assert listed.index("pine-agent") < listed.index("oak-agent")
    assert "on Tuesdays" in other.call("history_search", query="When are releases cut?")
    assert "larch" not in other.call("history_overview")


def test_the_newest_notes_are_shown_within_two_thousand_tokens(start: Start) -> None:
    client = start()
    for number in range(9):
        client.call("note_add", text=f"Note {number}: " + "the bed by the wall needs water. " * 50)
    listed = client.call("note_list")
    assert count_tokens(listed) < 2200
    assert "Note 8" in listed
    assert "Note 0" not in listed
    assert "of 9 notes" in listed


def test_other_projects_are_searched_only_if_the_user_allows_it(
    start: Start, sessions: Path, tmp_path: Path
) -> None:
    meadow = tmp_path / "meadow"
    meadow.mkdir()
    stored(meadow, [user("meadow-1", "The tulip bulbs lie in the cellar.")], session="meadow-session")
    asked = {"query": "Where are the tulip bulbs?", "scope": "all"}
    assert "the user's settings do not allow it" in start().call("history_search", **asked)
    (sessions / ".coppice").mkdir()
    (sessions / ".coppice" / "settings.toml").write_text("[mcp]\notherWorkspaces = true\n")
    assert "the user's settings do not allow it" in start().call("history_search", **asked)
    (tmp_path / "config" / "settings.toml").write_text("[mcp]\notherWorkspaces = true\n")
    text = start().call("history_search", **asked)
    assert "in the cellar" in text
    assert "in all projects" in text
    noise = [user(f"bulb-{number}", f"Bulb number {number} is planted.") for number in range(50)]
    stored(sessions, noise, session="noisy-session")
    assert "in the cellar" in start().call("history_search", **asked, maxTokens=500)
    assert "in the cellar" not in start().call("history_search", query="tulip bulbs")


def test_a_deleted_conversation_does_not_come_out(start: Start, sessions: Path) -> None:
    client = start()
    assert "empty basket" in client.call("history_search", query="empty basket")
    store = Store.open(url_of(sessions), server_id="deleting", index_idle_seconds=None)
    store.delete(f"conversation-{OTHER_SESSION}")
    store.close()
    assert "Nothing found" in client.call("history_search", query="empty basket")
    assert "No entry" in client.call("history_read", ids=["login-6"])
    assert OTHER_SESSION not in client.call("history_overview")


def test_results_of_these_tools_are_not_found_again(start: Start, folder: Path) -> None:
    stored(
        folder,
        [
            user("asked-1", "Find the walnut decision."),
            assistant("asked-2", "", ("c1", "history_search", {"query": "anything"})),
            result("asked-3", "c1", "The walnut stays where it is.", tool="history_search"),
            result("asked-4", "c1", "The walnut stays where it is.", tool="mcp__coppice__history_search"),
            user("asked-5", "The walnut stays where it is, I decided.", timestamp=NOW),
        ],
    )
    text = start().call("history_search", query="walnut stays")
    assert 'id="asked-5"' in text
    assert 'id="asked-3"' not in text
    assert 'id="asked-4"' not in text


def written(folder: Path, name: str, *texts: str) -> Path:
    """A transcript of Claude Code of a session in `folder`; later texts are appended to what there is."""
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(folder))
    path = folder.parent / "agents" / "claude" / "projects" / slug / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    last = None
    with path.open("a", encoding="utf-8") as file:
        for text in texts:
            key = f"line-{hash(text)}"
            record = prompt(key, last, text) | {"cwd": str(folder), "sessionId": name}
            file.write(f"{json.dumps(record)}\n")
            last = key
    return path


def test_what_the_running_agent_writes_is_found_without_an_import(start: Start, folder: Path) -> None:
    written(folder, SESSION, "The hedge is trimmed in March.")
    client = start(CLAUDE_CODE_SESSION_ID=SESSION)
    text = client.call("history_search", query="When is the hedge trimmed?")
    assert "in March" in text
    assert "in this session" in text
    assert "session=" not in text
    assert "hedge" in client.call("history_overview")
