"""Short answers in an offline summary, and what is left of an earlier one."""

from dataclasses import replace

import pytest
from talk import reply, request, user

from coppice.compaction.summary_parser import parse_summary
from coppice.protocol.ledger import LedgerMessage, WorkLedger
from coppice.summarizers.offline import summarize_offline


def test_an_ok_to_a_report_is_no_request_and_an_ok_to_a_plan_no_decision() -> None:
    messages = [
        user("Build the importer."),
        reply("The plan has two parts. Shall I start?"),
        user("ok"),
        reply("It reads rows now."),
        user("Read cells too."),
        reply("It reads cells now."),
        user("ok, thanks!"),
    ]
    parsed = parse_summary(summarize_offline(request(messages)))
    assert parsed.goal == ("First request: Build the importer.", "Newest request: Read cells too.")
    assert parsed.decisions == ()


def test_what_introduces_messages_that_are_quoted_below_is_left_out_with_them() -> None:
    earlier = "It cannot be read here.\n\nKept word for word:\n\nUser: Build it."
    ledger = WorkLedger(earlier=earlier, messages=[LedgerMessage(text="Build it.", source="user")])
    text = summarize_offline(replace(request([]), ledger=ledger))
    assert "- It cannot be read here." in text
    assert "Kept word for word" not in text
    assert "as it was written" not in text


RECORDED = """Before it the chat was read.

Analysis:
1. The user asked for a port.

Summary:
1. Primary Request and Intent:
   Port the reader.
   ```py
   def read(): ...
   ```
2. All user messages:
   - "Port it."
3. Pending Tasks:
   - Port the writer
4. Current Work:
   The reader is half done.
5. Optional Next Step:
   Finish the reader.
"""


@pytest.mark.parametrize("commit", ["", "1a2b3c4 Port it"])
def test_of_a_recorded_summary_its_statements_are_quoted(commit: str) -> None:
    asked = LedgerMessage(text="Port it.", source="user")
    ledger = WorkLedger(earlier=RECORDED, messages=[asked], earlier_before_commit=commit)
    text = summarize_offline(replace(request([]), ledger=ledger))
    then = " (then)" if commit else ""
    tasks = f"3. Pending Tasks{then}:\n>    - Port the writer"
    assert f">    Port the reader.\n> […]\n> 2. All user messages:\n> {tasks}" in text
    assert ("half done" in text, "Finish the reader" in text) == (not commit, not commit)


def test_a_quoted_summary_says_which_commit_came_after_it() -> None:
    ledger = WorkLedger(earlier="1. Intent: port it. 2. Done: rows.", earlier_before_commit="1a2b3c4")
    text = summarize_offline(replace(request([]), ledger=ledger))
    assert "- The earlier summary, as it was written before commit 1a2b3c4:\n> 1. Intent" in text
