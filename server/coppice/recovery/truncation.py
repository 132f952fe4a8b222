"""Tool results too long for the model's window, cut to a length that leaves room for the rest.

A result is cut when it is too long by itself. Where many middling ones are too long together, the oldest
are cut further, then left out; the newest is never left out. A cut result states how much is missing.
"""

import re
from collections.abc import Callable, Collection, Sequence
from typing import Final

from coppice.tokens.counting import CHARS_PER_TOKEN
from coppice.tree.messages import TextContent, ToolResultMessage, UserContent
from coppice.tree.view import ViewMessage

RESULT_SHARE: Final = 0.3
"""Of the window, for one tool result. Pi 0.73.1."""
MOST_CHARS: Final = 400_000
"""Characters of one tool result, however large the window is. Pi 0.73.1."""
LEAST_CHARS: Final = 2_000
"""Characters of its content that a result keeps when it is cut. Pi 0.73.1, `MIN_KEEP`."""
_NEWLINE_SHARE: Final = 0.2
"""Of what is kept, the part that may be given up to end at a newline: as much as OpenClaw gives up."""
_SUFFIX_ROOM: Final = 220
"""Characters that the suffix takes at most."""
LEAST_LIMIT: Final = LEAST_CHARS + _SUFFIX_ROOM
"""The shortest that a result becomes unless it is left out."""
_LONGEST_ID: Final = 64
"""Characters of an entry's id that fit the suffix."""

_SUFFIX: Final = re.compile(
    r"(?:\A|\n\n)\[([0-9,]{1,20}) characters of this tool result were left out\."
    r"(?: Read them in parts \(an offset and a limit, or by section\)"
    r"(?: or with history_read \(id ([^\s)\]]{1,64})\))?\.)?\]\Z"
)

CountTokens = Callable[[ToolResultMessage], int]


def result_limit(context_window: int) -> int:
    """The characters that one tool result may have, the suffix about missing ones included."""
    return max(LEAST_LIMIT, min(MOST_CHARS, int(RESULT_SHARE * context_window * CHARS_PER_TOKEN)))


def text_length(message: ToolResultMessage) -> int:
    """The characters of a result's text blocks."""
    return sum(len(block.text) for block in message.content if isinstance(block, TextContent))


def truncated(message: ToolResultMessage, limit: int, entry_id: str | None = None) -> ToolResultMessage:
    """`message` with at most `limit` characters of text; the same object when it has no more.

    Its text blocks share the limit by length, images stay. Each block keeps its head, up to a newline where
    one is in the last fifth; from `LEAST_LIMIT` on at least `LEAST_CHARS` are kept. The last text states how
    many characters are missing, earlier cuts included, and how to read them: in the entry `entry_id`, unless
    an earlier cut named one. A limit of 0 leaves nothing but that.
    """
    if text_length(message) <= max(limit, _SUFFIX_ROOM):
        return message
    texts = [block.text for block in message.content if isinstance(block, TextContent)]
    texts[-1], missing, earlier_id = _without_suffix(texts[-1])
    room = max(0, limit - _SUFFIX_ROOM)
    heads = _heads(texts, room)
    missing += sum(map(len, texts)) - sum(map(len, heads))
    suffix = _suffix(missing, earlier_id or entry_id)
    heads[-1] = f"{heads[-1]}\n\n{suffix}" if heads[-1] else suffix
    return message.model_copy(update={"content": _with_texts(message.content, heads)})


def is_left_out(message: ToolResultMessage) -> bool:
    """Whether a cut has left nothing of the result's text."""
    texts = [block.text for block in message.content if isinstance(block, TextContent)]
    return len(texts) == 1 and (match := _SUFFIX.search(texts[0])) is not None and match.start() == 0


def plan(
    view: Sequence[ViewMessage],
    *,
    limit: int,
    excess: int,
    count_tokens: CountTokens,
    pinned: Collection[str] = (),
) -> dict[int, ToolResultMessage]:
    """What is to be put in place of tool results, by their index in `view`.

    Whatever is longer than `limit` characters is cut to it. While the results are then still `excess`
    tokens too many together, the oldest are cut to `LEAST_LIMIT` one by one, and if that is not enough left
    out one by one, the newest excepted. A cut that would save no token is not made, and none of the results
    of the entries in `pinned`.
    """
    results = {
        place: item.message for place, item in enumerate(view) if isinstance(item.message, ToolResultMessage)
    }
    newest = max(results, default=0)
    free = [place for place in results if view[place].entry_id not in pinned]
    cuts: dict[int, ToolResultMessage] = {}
    for place in free:
        short = truncated(results[place], limit, view[place].entry_id)
        if short is not results[place]:
            cuts[place] = short
            excess -= count_tokens(results[place]) - count_tokens(short)
    for smaller, places in ((LEAST_LIMIT, free), (0, [place for place in free if place != newest])):
        for place in places:
            if excess <= 0:
                return cuts
            current = cuts.get(place, results[place])
            short = truncated(current, smaller, view[place].entry_id)
            saved = count_tokens(current) - count_tokens(short)
            if saved > 0:
                cuts[place] = short
                excess -= saved
    return cuts


def _suffix(missing: int, entry_id: str | None) -> str:
    how = "in parts (an offset and a limit, or by section)"
    if entry_id is not None and len(entry_id) <= _LONGEST_ID and not re.search(r"[\s)\]]", entry_id):
        how += f" or with history_read (id {entry_id})"
    return f"[{missing:,} characters of this tool result were left out. Read them {how}.]"


def _without_suffix(text: str) -> tuple[str, int, str | None]:
    """The text without the suffix of an earlier cut, what that left out, and the entry that it names."""
    match = _SUFFIX.search(text)
    if match is None:
        return text, 0, None
    return text[: match.start()], int(match[1].replace(",", "") or 0), match[2]


def _heads(texts: Sequence[str], room: int) -> list[str]:
    """The heads of `texts`, which share `room` characters by length."""
    total = sum(map(len, texts))
    shares = [room * len(text) // total if total else 0 for text in texts]
    left = min(room, total) - sum(shares)
    for index, text in enumerate(texts):
        more = min(left, len(text) - shares[index])
        shares[index] += more
        left -= more
    heads = [_head(text, share) for text, share in zip(texts, shares, strict=True)]
    if room >= LEAST_CHARS > sum(map(len, heads)):
        return [text[:share] for text, share in zip(texts, shares, strict=True)]
    return heads


def _head(text: str, room: int) -> str:
    """The first `room` characters of `text`, or fewer, up to the newline that is nearest before there."""
    if len(text) <= room:
        return text
    newline = text.rfind("\n", room - int(_NEWLINE_SHARE * room), room + 1)
    return text[: newline if newline >= 0 else room]


def _with_texts(content: Sequence[UserContent], texts: Sequence[str]) -> list[UserContent]:
    """`content` with other texts; a block whose text is gone is gone, as no provider takes an empty one."""
    left = iter(texts)
    blocks: list[UserContent] = []
    for block in content:
        if not isinstance(block, TextContent):
            blocks.append(block)
        elif text := next(left):
            blocks.append(block.model_copy(update={"text": text}))
    return blocks
