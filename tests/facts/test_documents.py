"""Which documents that the user named are quoted: the one in work, while what it says holds."""

from dataclasses import replace

import pytest
from talk import edit, reply, request, run, tool, user

from coppice.compaction.facts.ledger import LedgerBuilder, ledger_details
from coppice.protocol.ledger import Quotation, WorkLedger
from coppice.summarizers.offline import summarize_offline
from coppice.tree.messages import Message

ISSUE = "Rows must be read one by one. " * 10


def documents(*messages: Message) -> list[tuple[str, str]]:
    ledger = LedgerBuilder().add_messages([user("Do epic-7."), *messages]).ledger
    return [(each.about, each.text) for each in ledger.quotations if each.kind == "brief"]


def test_each_issue_of_a_line_is_its_part_of_the_output() -> None:
    line = 'bd show epic-7.1 2>&1; echo "==="; bd show epic-7.2 | head -50; echo done'
    shown = documents(*run(line, f"One. {ISSUE}\n===\nTwo. {ISSUE}\ndone"))
    assert shown == [
        ("bd show epic-7.1", f"One. {ISSUE}".strip()),
        ("bd show epic-7.2", f"Two. {ISSUE}".strip()),
    ]


def test_an_output_whose_parts_nobody_tells_apart_is_quoted_as_none() -> None:
    assert documents(*run("bd show epic-7.1; bd show epic-7.2", ISSUE)) == []
    assert documents(*run("bd show epic-7.1; echo ===; bd show epic-7.2", ISSUE)) == []


def test_a_closed_issue_is_none_and_the_one_in_work_is_the_newest() -> None:
    show = [message for n in (1, 2, 3) for message in run(f"bd show epic-7.{n}", f"Number {n}. {ISSUE}")]
    shown = documents(
        *show,
        *run("bd close epic-7.1", "Closed."),
        *run("bd update epic-7.2 --status in_progress", "Updated."),
    )
    in_work = "bd show epic-7.2, before bd update epic-7.2 --status in_progress"
    assert [about for about, _ in shown] == ["bd show epic-7.3", in_work]


def test_a_line_on_what_a_later_command_acted_on_tells_an_old_status() -> None:
    text = f"○ epic-7.9 · Rows · OPEN\n{ISSUE}\nPart of → ○ epic-7\nDepends on → ○ epic-7.1\nAsk for 12 rows"
    shown = documents(
        *run("bd show epic-7.9", text),
        *run("bd list epic-7", "2 tasks"),
        *run("bd comment epic-7.9 begun", "no such issue", is_error=True),
        *run("bd update epic-7.1 12 --status open", "Updated."),
    )
    assert shown == [("bd show epic-7.9", f"{text.replace('Depends on → ○ epic-7.1' + chr(10), '')} […]")]


@pytest.mark.parametrize("acted", ["comment epic-7.9 begun", "update epic-7.9 --claim --status in_progress"])
def test_a_document_keeps_its_own_text_when_it_is_in_work(acted: str) -> None:
    for text in (f"epic-7.9: {ISSUE}".strip(), f"epic-7.9\n{ISSUE}\nepic-7.9 is in_progress after --claim"):
        assert documents(*run("bd show epic-7.9", text), *run(f"bd {acted}", "ok")) == [
            (f"bd show epic-7.9, before bd {acted}", text)
        ]


def test_a_document_is_from_before_the_first_command_that_changed_it() -> None:
    shown = [user("Do epic-7."), *run("bd show epic-7.1", f"Rows · OPEN\n{ISSUE}")]
    claimed = [*shown, *run("bd update epic-7.1 --claim", "ok"), *run("bd comment epic-7.1 begun", "ok")]
    title = "- `bd show epic-7.1`, quoted, before `bd update epic-7.1 --claim`:\n"
    assert title in summarize_offline(request(claimed))
    stored = {"ledger": ledger_details(LedgerBuilder().add_messages(claimed).ledger)}
    later = LedgerBuilder.from_details(stored).add_messages(run("bd update epic-7.1 --high", "ok")).ledger
    assert title in summarize_offline(replace(request([]), ledger=later))
    for harmless in (run("bd list epic-7.1", "1"), run("bd update epic-7.2 --claim", "ok")):
        assert "- `bd show epic-7.1`, quoted:\n" in summarize_offline(request([*shown, *harmless]))


def test_a_document_of_one_line_keeps_it() -> None:
    text = f"epic-7.9 after epic-7.1: {ISSUE}".strip()
    shown = documents(*run("bd show epic-7.9", text), *run("bd update epic-7.1 --claim", "Updated."))
    assert shown == [("bd show epic-7.9", text)]


def test_a_document_of_an_earlier_version_is_not_what_later_commands_were_about() -> None:
    about = "bd show epic-7.9 (before bd update epic-7.8 --claim)"
    stored = WorkLedger(quotations=[Quotation(text=ISSUE, kind="brief", about=about)])
    builder = LedgerBuilder(stored).add_messages(run("bd close epic-7.8", "Closed."))
    assert [each.about for each in builder.ledger.quotations] == ["bd show epic-7.9"]


def test_a_stored_document_without_a_title_is_no_command_s() -> None:
    stored = WorkLedger(quotations=[Quotation(text=ISSUE, kind="brief")])
    builder = LedgerBuilder(stored).add_messages(run("bd close epic-7.8", "Closed."))
    assert [each.text for each in builder.ledger.quotations] == [ISSUE]


def test_a_command_that_failed_closes_nothing() -> None:
    shown = documents(
        *run("bd show epic-7.1", ISSUE), *run("bd close epic-7.1", "no such issue", is_error=True)
    )
    assert [about for about, _ in shown] == ["bd show epic-7.1"]


def test_a_plan_that_was_edited_is_read_in_the_repository() -> None:
    read = tool("Read", {"file_path": "docs/epic-7.md"}, ISSUE)
    assert [about for about, _ in documents(*read)] == ["docs/epic-7.md"]
    assert documents(*read, *edit("docs/epic-7.md", "- [x] read rows")) == []


def test_a_request_that_names_nothing_leaves_what_was_named_before() -> None:
    shown = documents(user("Tasks were added."), *run("bd show epic-7.1", ISSUE))
    assert [about for about, _ in shown] == ["bd show epic-7.1"]


def test_what_the_user_did_not_name_is_no_document() -> None:
    assert documents(*run("bd show other-9", ISSUE), reply("Read.")) == []
