"""Causes and announcements in the offline summary: what is stated of them, and when."""

from dataclasses import replace

from talk import edit, request, run, saying, user

from coppice.compaction.facts.ledger import LedgerBuilder
from coppice.compaction.summary_parser import parse_summary
from coppice.summarizers.offline import summarize_offline


def test_a_cause_is_stated_only_while_its_check_passes() -> None:
    session = [
        user("Build the importer"),
        *run("pytest tests/test_importer.py", "1 failed", is_error=True),
        *saying("The parser splits quoted cells. I need to use `:auto`.", edit("src/importer.py")),
        *run("pytest tests/test_importer.py", "4 passed"),
    ]
    (line,) = parse_summary(summarize_offline(request(session))).context
    assert "The parser splits quoted cells." in line
    assert ":auto" not in line
    changed = parse_summary(summarize_offline(request([*session, *edit("src/importer.py", "b = 1")])))
    assert changed.context == ()


def test_what_a_reply_announces_is_not_stated_as_done() -> None:
    session = [
        user("Build the importer"),
        *saying("`read_rows` has no default. Let me try `csv_rows`.", edit("src/importer.py")),
        *saying("Next comes the export.", edit("src/export.py")),
    ]
    ledger = LedgerBuilder().add_messages(session).ledger
    done = parse_summary(summarize_offline(replace(request([]), ledger=ledger))).done
    assert any("`read_rows` has no default." in line for line in done)
    assert not any("csv_rows" in line for line in done)
