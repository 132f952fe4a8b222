"""`coppice navigate`, and what `coppice tree` shows of where one is."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Coppice, start
from cli.sessions import assistant, entry, long_session, messages, user, write_session
from cli.test_stopping import LONG, read_until


def stored(coppice: Coppice, file: Path) -> str:
    return str(json.loads(coppice("import", file, "--json").out)["conversation"]["id"])


def branching(coppice: Coppice, folder: Path) -> str:
    """A conversation of two turns that goes on in two ways: `e8`, its leaf, and `e10`."""
    file = write_session(folder / "tree.jsonl", [*messages(2), user("one way")])
    with file.open("a", encoding="utf-8") as lines:
        for number, parent, message in ((9, 3, user("another way")), (10, 9, assistant("gone far"))):
            lines.write(json.dumps(entry(number, parent, message)) + "\n")
    conversation = stored(coppice, file)
    assert coppice("navigate", conversation, "e7").code == 0
    return conversation


def leaf(coppice: Coppice, conversation: str) -> Any:
    return json.loads(coppice("tree", conversation, "--json").out)["leafId"]


def test_a_reply_is_gone_to_and_back_in_one_call_each(coppice: Coppice, tmp_path: Path) -> None:
    conversation = branching(coppice, tmp_path)
    ran = coppice("navigate", conversation, "e10")
    assert (ran.code, ran.out, ran.err) == (0, "e7 → e10\n", "")
    assert leaf(coppice, conversation) == "e10"
    back = coppice("navigate", conversation, "e7", "--json")
    assert json.loads(back.out) == {"oldLeafId": "e10", "leafId": "e7", "cancelled": False}


def test_a_persons_message_is_shown_to_be_sent_again(coppice: Coppice, tmp_path: Path) -> None:
    conversation = branching(coppice, tmp_path)
    ran = coppice("navigate", conversation, "e9")
    assert ran.out == "e7 → e3\n\n--- To edit and send again ---\nanother way\n"
    ran = coppice("navigate", conversation, "e0")
    assert ran.out.startswith("e3 → (before the first message)\n")
    assert leaf(coppice, conversation) is None


def test_the_branch_that_was_left_is_summarized_and_named(coppice: Coppice, tmp_path: Path) -> None:
    conversation = branching(coppice, tmp_path)
    ran = coppice(
        "navigate", conversation, "e10", "--summarize", "--label", "part 1", "--instructions", "files"
    )
    assert ran.code == 0
    first, _, rest = ran.out.partition("\n")
    assert first.startswith("e7 → ")
    assert "--- What the branch that was left did ---" in rest
    assert "<modified-files>\nsrc/part_1.py\n</modified-files>" in rest
    assert ran.err.startswith("Summarizing branch …\n")
    assert "Summarizing branch: The branch was summarized\n" in ran.err
    drawn = coppice("tree", conversation).out.splitlines()
    [here] = [line for line in drawn if "← you are here" in line]
    assert here.lstrip("│├└─ ").startswith("● ")
    assert "branch_summary" in here
    assert "[part 1]" in here


def test_nothing_to_summarize_is_reported(coppice: Coppice, tmp_path: Path) -> None:
    conversation = branching(coppice, tmp_path)
    ran = coppice("navigate", conversation, "e7", "--summarize")
    assert ran.out == "The conversation stays at e7.\nThere was nothing to summarize.\n"


def test_a_preview_shows_what_would_be_left_and_changes_nothing(coppice: Coppice, tmp_path: Path) -> None:
    conversation = branching(coppice, tmp_path)
    before = coppice("tree", conversation, "--mode", "all", "--json").out
    ran = coppice("navigate", conversation, "e10", "--preview")
    lines = ran.out.splitlines()
    assert lines[0].startswith("4 entries after e3 would leave the path, ")
    assert [line.split()[:2] for line in lines[2:6]] == [
        ["e4", "user"],
        ["e5", "assistant"],
        ["e6", "toolResult"],
        ["e7", "assistant"],
    ]
    assert lines[-1] == "To return, navigate to e7."
    preview = json.loads(coppice("navigate", conversation, "e10", "--preview", "--json").out)
    assert preview["entriesToSummarize"] == ["e4", "e5", "e6", "e7"]
    assert (preview["commonAncestorId"], preview["leafId"]) == ("e3", "e7")
    assert coppice("tree", conversation, "--mode", "all", "--json").out == before
    assert coppice("navigate", conversation, "e7", "--preview").out == "No entries would leave the path.\n"


def test_a_long_preview_names_the_first_entries_and_counts_the_rest(coppice: Coppice, tmp_path: Path) -> None:
    ran = coppice("navigate", long_session(tmp_path, 10), "e1", "--preview")
    lines = ran.out.splitlines()
    assert lines[0].startswith("38 entries after e1 would leave the path, ")
    assert "… 18 more …" in lines
    assert len(lines) == 25


def test_the_tree_shows_labels_pins_and_the_current_path(coppice: Coppice, tmp_path: Path) -> None:
    file = write_session(tmp_path / "marked.jsonl", [user("root"), assistant("one"), user("left")])
    marks: list[dict[str, Any]] = [
        {"type": "label", "id": "l1", "targetId": "e1", "label": "good \x1b[2J start"},
        {"type": "pin", "id": "p1", "targetId": "e2", "pinned": True},
    ]
    with file.open("a", encoding="utf-8") as lines:
        for number, parent, message in ((3, 1, user("right")), (4, 3, assistant("deep"))):
            lines.write(json.dumps(entry(number, parent, message)) + "\n")
        for mark in marks:
            about = {"parentId": "e4", "timestamp": "2026-03-01T10:00:00.000Z"}
            lines.write(json.dumps({**about, **mark}) + "\n")
    conversation = stored(coppice, file)
    coppice("navigate", conversation, "e4", "--label", "the end")
    drawn = coppice("tree", conversation).out.splitlines()
    assert drawn[0] == "● e1 assistant one  (2 entries) [good start]"
    assert drawn[1].startswith("├─ ○ e2 user left")
    assert drawn[1].endswith(" pinned")
    assert drawn[2].startswith("└─ ● e4 assistant deep  (2 entries) [the end]")
    assert drawn[2].endswith("← you are here")


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["nowhere"], 1, "There is no such entry in this conversation."),
        (["e10", "--instructions", "x"], 2, "give --summarize too"),
        (["e10", "--preview", "--label", "x"], 2, "leave --summarize and --label away"),
        (["e10", "--preview", "--summarize"], 2, "leave --summarize and --label away"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(
    coppice: Coppice, tmp_path: Path, arguments: list[str], code: int, sentence: str
) -> None:
    conversation = branching(coppice, tmp_path)
    ran = coppice("navigate", conversation, *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert sentence in ran.err
    assert ran.err.count("\n") == 1
    assert leaf(coppice, conversation) == "e7"
    refusal = json.loads(coppice("navigate", conversation, *arguments, "--json").out)
    assert sentence in refusal["error"]["message"]


def test_an_unknown_conversation_is_refused(coppice: Coppice) -> None:
    ran = coppice("navigate", "nobody", "e1")
    assert (ran.code, ran.out) == (1, "")
    assert "`coppice list --all` shows what is stored" in ran.err


def test_a_session_file_is_looked_at_and_never_written(coppice: Coppice, tmp_path: Path) -> None:
    file = long_session(tmp_path, 2)
    before = file.read_bytes()
    ran = coppice("navigate", file, "e1")
    assert (ran.code, ran.out) == (2, "")
    assert "`coppice import`" in ran.err
    assert coppice("navigate", file, "e1", "--preview").code == 0
    assert file.read_bytes() == before


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_navigation_that_is_stopped_changes_nothing(
    coppice: Coppice, home: Path, number: signal.Signals, code: int
) -> None:
    conversation = stored(coppice, long_session(home, LONG))
    before = coppice("tree", conversation, "--json").out
    with start("navigate", conversation, "e1", "--summarize", "--label", "x") as process:
        read_until(process, "Summarizing branch: Summarizing")
        process.send_signal(number)
        out, err = process.communicate()
    assert process.returncode == code, err
    assert out == b""
    assert b"nothing was changed" in err
    assert coppice("tree", conversation, "--json").out == before
    assert coppice("navigate", conversation, "e1").code == 0


def test_what_a_message_holds_does_nothing_to_the_terminal(coppice: Coppice, tmp_path: Path) -> None:
    entries = [user("first"), assistant("fine"), user("evil \x1b]0;title\x07\x1b[2Jwords"), assistant("ok")]
    conversation = stored(coppice, write_session(tmp_path / "evil.jsonl", entries))
    shown = coppice("navigate", conversation, "e1", "--preview").out
    shown += coppice("navigate", conversation, "e2").out
    assert "\x1b" not in shown
    assert "evil words" in shown


def test_a_session_file_is_navigated_in_a_copy(coppice: Coppice, tmp_path: Path) -> None:
    file = write_session(tmp_path / "tree.jsonl", [*messages(2), user("one way")])
    before = file.read_bytes()
    ran = coppice("navigate", "-", "e3", "--summarize", "--dry-run", "--json", stdin=before)
    assert ran.code == 0
    assert "one way" in json.loads(ran.out)["summaryEntry"]["summary"]
    assert json.loads(coppice("list", "--all", "--json").out) == {"conversations": []}
    assert coppice("navigate", "-", "e3", "--summarize", stdin=before).code == 2
    conversation = stored(coppice, file)
    assert "--dry-run works on session files" in coppice("navigate", conversation, "e3", "--dry-run").err
