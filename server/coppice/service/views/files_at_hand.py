"""The current text of the files that a turn works on, for a model whose view of them was summarized."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from coppice.compaction.span.sizes import fitted_sizes
from coppice.files.ignoring import BUILT_IN_PATTERNS, ignored, patterns
from coppice.files.paths import is_absolute, path_of_uri
from coppice.redaction import SECRET_NAMES, masked
from coppice.regular_file import read_regular_file
from coppice.service.core.context import now
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.files.git_excludes import GitExcludes
from coppice.service.window.usage import Counter, context_tokens
from coppice.tokens.measuring import size_of_text
from coppice.tree.entries import HARNESS_TYPE, CustomMessageEntry
from coppice.tree.ids import new_entry_id
from coppice.tree.tags import tagged

MOST_FILES: Final = 3  # as many as fit the share of a large window in full
MOST_TOKENS: Final = 5_000
"""Of one file: some 500 lines. A longer one is read by the model in parts, as before."""
MOST_TRIED: Final = 50
"""Of the newest changed files, how many are looked at for some that may be shown. To look for keys in
all takes 0.4 s where each is as long as may be."""
SHARE: Final = 0.1
"""Of the window, for all of them: what `MOST_FILES` of `MOST_TOKENS` are of 150,000 tokens."""
FULL_SHARE: Final = 0.8
"""Of the threshold, for the request with them; or the next compaction would be due at once."""
_MOST_BYTES: Final = 8 * MOST_TOKENS
"""More than any text of `MOST_TOKENS` has: a token of code is some four bytes."""
TAG: Final = "file-at-hand"
_SECRET: Final = patterns(SECRET_NAMES)  # without capitals
_OPENING: Final = (
    "The earlier part of the conversation was summarized. These files were changed in it; this is their "
    "text on disk as of {now}."
)
_NAMES: Final = "filesAtHand"
"""The property of an entry's details with the files that it shows."""


def lacks_files(path: ConversationPath) -> bool:
    """Whether the path was compacted and no model has answered since, nor was shown the files. Reads the
    store.
    """
    if path.compaction is None:
        return False
    compacted = path.compaction.depth
    has_answered = any(row.role == "assistant" for row in path.rows() if row.depth > compacted)
    return not has_answered and path.harness_detail(_NAMES, after=compacted) is None


def files_at_hand(path: ConversationPath, window: int, overhead_tokens: int) -> CustomMessageEntry | None:
    """The newest files that tools changed, as an entry of the harness; None where there are none to show.

    Of the newest `MOST_TRIED` only files of the workspace: none behind a link, none that is hidden, may be
    ignored or is called as files with credentials are, and none that is no text or holds what looks like a
    key. They take no more than leaves the request, which has `overhead_tokens` besides the view, well below
    the threshold. Reads the store and the disk.
    """
    root = path_of_uri(path.conversation.workspace_uri)
    if root is None or path.root is None:
        return None
    if os.path.realpath(path.root) != os.path.realpath(root):
        return None
    counter = Counter(path.settings)
    shown: dict[str, str] = {}
    view, _ = context_tokens(path, counter)
    threshold = fitted_sizes(path.settings.compaction, window).threshold
    room = min(int(window * SHARE), int(FULL_SHARE * threshold) - view - overhead_tokens)
    if room <= 0:
        return None
    for name, text in _texts(path, Path(os.path.realpath(root))):
        block = tagged(TAG, f"path: {json.dumps(name, ensure_ascii=False)}\n{text}")
        tokens = counter.tokens(size_of_text(block))
        if tokens > min(room, MOST_TOKENS):
            continue
        room -= tokens
        shown[name] = block
        if len(shown) == MOST_FILES:
            break
    if not shown:
        return None
    at = now()
    return CustomMessageEntry(
        id=new_entry_id(),
        parent_id=None,
        timestamp=at,
        custom_type=HARNESS_TYPE,
        content="\n\n".join([_OPENING.format(now=at), *shown.values()]),
        display=False,
        details={_NAMES: list(shown)},
    )


def _texts(path: ConversationPath, root: Path) -> Iterator[tuple[str, str]]:
    """Names and texts of the files that may be shown, the one that was worked on last first."""
    excludes, own = GitExcludes(root), [BUILT_IN_PATTERNS, patterns(path.settings.files.ignore)]
    for name in _changed(path)[:MOST_TRIED]:
        is_hidden = any(part.startswith(".") for part in name.split("/"))
        if is_absolute(name) or is_hidden or ignored(name.lower(), [_SECRET]) or ignored(name, own):
            continue
        file = root / name
        if os.path.realpath(file) != str(file) or excludes.excludes(name):
            continue
        try:
            text = read_regular_file(file, _MOST_BYTES).decode()
        except (OSError, ValueError):
            continue
        if text.strip() and "\0" not in text and masked(text) == text:
            yield name, text


def _changed(path: ConversationPath) -> list[str]:
    """The files that tools changed on the path, the newest first. Reads the store."""
    places = {row.id: place for place, row in enumerate(path.rows())}
    histories = [each for each in path.ledger().histories.values() if each.writes and not each.deleted]
    by_tools = [each for each in reversed(histories) if "tool" in each.sources]
    by_tools.sort(key=lambda each: places.get(each.last_entry_id or "", -1), reverse=True)
    return [each.path for each in by_tools]
