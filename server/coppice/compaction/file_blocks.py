"""The file lists at the end of a summary."""

from collections.abc import Sequence
from typing import Final

from coppice.compaction.summarizer import CountTokens
from coppice.tree.tags import tagged

FILES_SHARE: Final = 0.3


def file_blocks(
    read_files: Sequence[str], modified_files: Sequence[str], *, max_tokens: int, count_tokens: CountTokens
) -> str:
    """`<read-files>` and `<modified-files>`, one path a line, sorted; an empty list has no block.

    Where both would exceed `max_tokens`, paths are left out and counted, read files before modified ones;
    the complete lists stand in the entry's details.
    """
    modified = _block("modified-files", modified_files, max_tokens, count_tokens)
    left = max_tokens - count_tokens(modified)
    read = _block("read-files", read_files, left, count_tokens)
    return "\n\n".join(filter(None, (read, modified)))


def _block(tag: str, paths: Sequence[str], max_tokens: int, count_tokens: CountTokens) -> str:
    lines = [" ".join(path.splitlines()) for path in sorted(paths)]
    if not lines:
        return ""
    whole = tagged(tag, "\n".join(lines))
    if count_tokens(whole) <= max_tokens:
        return whole
    shown = 0
    spent = count_tokens(tagged(tag, f"… and {len(lines)} more"))
    for line in lines:
        spent += count_tokens(f"{line}\n")
        if spent > max_tokens:
            break
        shown += 1
    return tagged(tag, "\n".join([*lines[:shown], f"… and {len(lines) - shown} more"]))
