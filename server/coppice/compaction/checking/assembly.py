"""The parts of a summary that are computed, after the narrative: the user's words, and the state.

A narrative has one author, a model, a person or the offline writer. What is computed stands apart from it.
"""

from typing import Final

from coppice.compaction.asking.summarizer import CountTokens
from coppice.compaction.ledger.fitting import chosen_lines
from coppice.compaction.ledger.lines import lines_of
from coppice.compaction.summary import inert
from coppice.compaction.summary_parser import without_file_blocks
from coppice.protocol.ledger import WorkLedger

USER_MESSAGES: Final = "## User Messages"
STATE: Final = "## State"
_QUOTED: Final = ("goal", "constraints")
"""Sections of the ledger's lines that quote the user, or rules of developer and memory messages."""
_USER_SHARE: Final = 4
"""The summary's tokens divided by this bound the user's messages (design: a quarter)."""
_STATE_SHARE: Final = 10
"""The summary's tokens divided by this bound the state (design: at most a tenth)."""
_STATE_PRIORITY: Final = 84
"""Lines of the ledger from this priority on are shown."""


def narrative_of(text: str) -> str:
    """A stored summary without file blocks and the computed parts."""
    return split_parts(text)[0]


def split_parts(text: str) -> tuple[str, str]:
    """The narrative and the computed parts of a stored summary, both without file blocks."""
    lines = without_file_blocks(text).splitlines()
    starts = (number for number, line in enumerate(lines) if line.rstrip() in (USER_MESSAGES, STATE))
    start = next(starts, len(lines))
    return "\n".join(lines[:start]).strip(), "\n".join(lines[start:]).strip()


def computed_parts(ledger: WorkLedger, tokens: int, count_tokens: CountTokens) -> str:
    """The user's messages and the state of `ledger`, for a summary of `tokens`; empty without any."""
    lines = lines_of(ledger)
    quoted = [line for line in lines if line.section in _QUOTED]
    state = [line for line in lines if line.section not in _QUOTED and line.priority >= _STATE_PRIORITY]
    parts = []
    for heading, of_part, share in ((USER_MESSAGES, quoted, _USER_SHARE), (STATE, state, _STATE_SHARE)):
        chosen = chosen_lines(of_part, tokens // share, count_tokens)
        if chosen:
            chosen.sort(key=lambda line: (line.section, line.order))
            parts.append("\n".join([heading, *(f"- {inert(line.text)}" for line in chosen)]))
    return "\n\n".join(parts)
