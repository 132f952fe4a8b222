"""The file lists at the end of a summary."""

from collections.abc import Sequence
from typing import Final

from coppice.compaction.asking.summarizer import CountTokens
from coppice.compaction.text.paths import is_about_work
from coppice.tokens.budget import leading
from coppice.tree.tags import tagged

FILES_SHARE: Final = 0.3
"""Of a summary's tokens, at most (guess)."""


def file_blocks(
    read_files: Sequence[str], modified_files: Sequence[str], *, max_tokens: int, count_tokens: CountTokens
) -> str:
    """`<read-files>` and `<modified-files>`, one path a line, sorted; an empty list has no block.

    Version control's own files, dependencies and build output are left out. Where both lists would exceed
    `max_tokens`, paths are left out and counted, read files before modified ones. The complete lists are in
    the entry's details.
    """
    modified = _block("modified-files", modified_files, max_tokens, count_tokens)
    left = max_tokens - count_tokens(modified)
    read = _block("read-files", read_files, left, count_tokens)
    return "\n\n".join(filter(None, (read, modified)))


def _block(tag: str, paths: Sequence[str], max_tokens: int, count_tokens: CountTokens) -> str:
    lines = [" ".join(path.splitlines()) for path in sorted(set(filter(is_about_work, paths)))]
    if not lines:
        return ""
    whole = tagged(tag, "\n".join(lines))
    if count_tokens(whole) <= max_tokens:
        return whole
    room = max_tokens - count_tokens(tagged(tag, f"… and {len(lines)} more"))
    shown = leading(lines, room, lambda line: count_tokens(f"{line}\n"))
    return tagged(tag, "\n".join([*shown, f"… and {len(lines) - len(shown)} more"]))
