"""The summary's document: the narrative, the user's messages, the state, and the file lists."""

import re
from dataclasses import dataclass
from typing import Final

from coppice.compaction.asking.summarizer import CountTokens, cautious
from coppice.compaction.summary_parser import without_file_blocks
from coppice.compaction.writing import branch_files, state_lines, user_messages
from coppice.compaction.writing.references import entries_in, short_ids
from coppice.protocol.ledger import WorkLedger
from coppice.protocol.state import WorkState

MESSAGES_SHARE: Final = 4
"""The summary's tokens divided by this bound the user's messages."""
STATE_SHARE: Final = 10
"""The summary's tokens divided by this bound the state, but for 150 tokens of a short summary."""
_LEAST_STATE: Final = 150  # tokens: branch, changed files, a check and a commit
_PARTS: Final = re.compile(
    "^(?:"
    + "|".join(map(re.escape, (user_messages.HEADING, state_lines.HEADING, branch_files.HEADING)))
    + ")$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Parts:
    """The computed parts of a summary, in the order in which they follow the narrative; each may be empty."""

    messages: str
    state: str
    files: str

    @property
    def text(self) -> str:
        """The parts as they are appended."""
        return "\n\n".join(filter(None, (self.messages, self.state, self.files)))


def computed_parts(
    ledger: WorkLedger, now: WorkState, files: str, *, limit: int, count_tokens: CountTokens, references: bool
) -> Parts:
    """The user's messages of `ledger`, the state `now`, and the blocks `files`, for a summary of `limit`
    tokens.
    """
    count = cautious(count_tokens)
    short = short_ids(entries_in(ledger.model_copy(update={"state": now}))) if references else {}
    room = max(0, limit - count(files))
    messages = user_messages.user_messages_section(ledger.messages, room // MESSAGES_SHARE, count, short)
    room_of_state = max(room // STATE_SHARE, min(_LEAST_STATE, room // MESSAGES_SHARE))
    state = state_lines.state_section(now, room_of_state, count, short)
    return Parts(messages, state, files)


def narrative_in(text: str) -> str:
    """The narrative of a summary's document: `text` up to the first computed part."""
    text = without_file_blocks(text)
    part = _PARTS.search(text)
    return text[: part.start()].rstrip() if part else text
