"""What summaries of earlier versions contain that later ones do without: the index of identifiers."""

import re
from dataclasses import replace
from typing import Final

from coppice.compaction.phrases import LAST_EVENTS
from coppice.compaction.summary import Summary
from coppice.protocol.ledger import Note

_INDEX: Final = re.compile(
    r"(?:Paths|Types and modules|Names|Ids|Links|Flags and values|Commands that worked|Also changed): "
)
_SECTIONS: Final = ("goal", "constraints", "done", "in_progress", "blocked", "next_steps", "context")
MOST_LINES: Final = 500
"""Lines of each section that become notes (guess: more than fit any summary, and little work)."""
_TURN_SECTIONS: Final = {
    "Request": "goal",
    "Done": "done",
    "Doing": "in_progress",
    "Error": "blocked",
    "Next": "next_steps",
}


def without_index(summary: Summary) -> Summary:
    """`summary` without an index of identifiers."""
    return replace(
        summary,
        done=tuple(line for line in summary.done if not _INDEX.match(line)),
        context=tuple(line for line in summary.context if not _INDEX.match(line)),
    )


def notes_of(summary: Summary) -> list[Note]:
    """The lines of a summary that no ledger goes with, by section; a split turn's go where they belong.

    Of a section with more than `MOST_LINES` lines, the last ones.
    """
    summary = without_index(summary)
    notes = [
        Note(section=name, text=text)
        for name in _SECTIONS
        for text in getattr(summary, name)[-MOST_LINES:]
        if not text.startswith(LAST_EVENTS)
    ]
    for decision in summary.decisions[-MOST_LINES:]:
        text = f"{decision.what}: {decision.why}" if decision.why else decision.what
        notes.append(Note(section="decisions", text=text))
    for line in summary.turn[-MOST_LINES:]:
        label, _, text = line.partition(": ")
        section = _TURN_SECTIONS.get(label)
        notes.append(Note(section=section or "context", text=text if section else line))
    notes += [Note(section="context", text=line) for line in summary.other_lines()[-MOST_LINES:]]
    return notes
