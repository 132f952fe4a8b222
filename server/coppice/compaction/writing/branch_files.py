"""What a branch left in the files, as a section of its summary."""

from collections.abc import Sequence
from typing import Final

from coppice.compaction.asking.summarizer import CountTokens
from coppice.compaction.text.sentences import one_line
from coppice.protocol.navigation import BranchFile
from coppice.tokens.budget import leading
from coppice.tree.tags import escape_tags

HEADING: Final = "## Files of the Branch"
_ORIGIN: Final = "How the branch left them, compared with where it began, and whether that is so on disk now."
_ON_DISK: Final = {"all": "still so on disk", "part": "in part so on disk", "none": "no longer so on disk"}


def branch_files_section(files: Sequence[BranchFile], room: int, count_tokens: CountTokens) -> str:
    """The section in at most `room` tokens, a line for each of the first files, with the number of those that
    are left out; empty where there is none.
    """
    if not files:
        return ""
    head = f"{HEADING}\n{_ORIGIN}"
    room -= count_tokens(f"{head}\n… and {len(files)} more")
    lines = leading(map(_line, files), room, lambda line: count_tokens(f"{line}\n"))
    more = [f"… and {len(files) - len(lines)} more"] if len(lines) < len(files) else []
    return "\n".join([head, *lines, *more])


def _line(file: BranchFile) -> str:
    counts = ((file.added, "+"), (file.removed, "−"))
    lines = " ".join(f"{sign}{number}" for number, sign in counts if number)
    facts = [f"{file.kind} ({lines})" if lines else file.kind, _ON_DISK.get(file.on_disk or "", "")]
    return f"- {escape_tags(one_line(file.path))}: {'; '.join(filter(None, facts))}"
