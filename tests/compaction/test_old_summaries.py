"""Notes of a summary without a ledger."""

from coppice.compaction.old_summaries import MOST_LINES, notes_of
from coppice.compaction.summary_parser import parse_summary


def test_the_newest_lines_of_a_section_without_end_become_notes() -> None:
    lines = "\n".join(f"- Step {number}" for number in range(2_000))
    summary = parse_summary(
        f"## Goal\nBuild the importer\n\n## Next Steps\n1. Stop\n\n## Critical Context\n{lines}"
    )
    notes = notes_of(summary)
    assert [note.text for note in notes if note.section == "goal"] == ["Build the importer"]
    assert [note.text for note in notes if note.section == "next_steps"] == ["Stop"]
    context = [note.text for note in notes if note.section == "context"]
    assert context == [f"Step {number}" for number in range(2_000 - MOST_LINES, 2_000)]
