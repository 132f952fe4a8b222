"""Tool results too long for the model's window, cut to a length that leaves room for the rest.

A result is cut when it is too long by itself. Where many middling ones are too long together, the oldest
are cut further, then left out; the newest is never left out. What was cut says how much is missing.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from coppice.tree.messages import TextContent, ToolResultMessage, UserContent
from coppice.tree.view import ViewMessage

RESULT_SHARE: Final = 0.3
CHARS_PER_TOKEN: Final = 4
MOST_CHARS: Final = 400_000
LEAST_CHARS: Final = 2_000
_NEWLINE_SHARE: Final = 0.2
_SUFFIX_ROOM: Final = 80

_SUFFIX: Final = re.compile(r"(?:\A|\n\n)\[([0-9,]{1,20}) characters of this tool result were left out\.\]\Z")

CountTokens = Callable[[ToolResultMessage], int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tool result that stands in a view. A `fixed` one is never cut: a person pinned it, for instance."""

    message: ToolResultMessage
    fixed: bool = False


def result_limit(context_window: int) -> int:
    """The characters that one tool result may have, what is said about missing ones included."""
    return max(LEAST_CHARS, min(MOST_CHARS, int(RESULT_SHARE * context_window * CHARS_PER_TOKEN)))


def text_length(message: ToolResultMessage) -> int:
    """The characters of a result's text blocks."""
    return sum(len(block.text) for block in message.content if isinstance(block, TextContent))


def truncated(message: ToolResultMessage, limit: int) -> ToolResultMessage:
    """`message` with at most `limit` characters of text; the same object when it has no more.

    Its text blocks share the limit by length, images stay. Each block keeps its head, up to a newline where
    one stands in the last fifth. The last text says how many characters are missing, earlier cuts included.
    A limit of 0 leaves nothing but that.
    """
    if text_length(message) <= max(limit, _SUFFIX_ROOM):
        return message
    texts = [block.text for block in message.content if isinstance(block, TextContent)]
    texts[-1], missing = _without_suffix(texts[-1])
    total = sum(map(len, texts))
    room = max(0, limit - _SUFFIX_ROOM)
    kept = [_head(text, room * len(text) // total if total else 0) for text in texts]
    missing += total - sum(map(len, kept))
    suffix = f"[{missing:,} characters of this tool result were left out.]"
    kept[-1] = f"{kept[-1]}\n\n{suffix}" if kept[-1] else suffix
    return message.model_copy(update={"content": _with_texts(message.content, kept)})


def plan(
    results: Sequence[Candidate], *, limit: int, excess: int, count_tokens: CountTokens
) -> dict[int, ToolResultMessage]:
    """The results to put in place of others, by their index in `results`, which are oldest first.

    Whatever is longer than `limit` characters is cut to it. While the results are then still `excess`
    tokens too many together, the oldest are cut to `LEAST_CHARS` one by one, and if that is not enough left
    out one by one, the newest excepted. A cut that would save no token is not made.
    """
    cuts: dict[int, ToolResultMessage] = {}
    free = [index for index, result in enumerate(results) if not result.fixed]
    for index in free:
        short = truncated(results[index].message, limit)
        if short is not results[index].message:
            cuts[index] = short
            excess -= count_tokens(results[index].message) - count_tokens(short)
    for smaller, indexes in ((LEAST_CHARS, free), (0, [i for i in free if i != len(results) - 1])):
        for index in indexes:
            if excess <= 0:
                return cuts
            current = cuts.get(index, results[index].message)
            short = truncated(current, smaller)
            saved = count_tokens(current) - count_tokens(short)
            if saved > 0:
                cuts[index] = short
                excess -= saved
    return cuts


def truncated_view(
    view: Sequence[ViewMessage],
    *,
    limit: int,
    excess: int,
    count_tokens: CountTokens,
    pinned: frozenset[str] = frozenset(),
) -> list[ViewMessage]:
    """`view` with its tool results cut as `plan` says, before it is sent; nothing is stored.

    Results of the entries in `pinned` stay whole.
    """
    places = [place for place, item in enumerate(view) if isinstance(item.message, ToolResultMessage)]
    results = [
        Candidate(item.message, fixed=item.entry_id in pinned)
        for item in view
        if isinstance(item.message, ToolResultMessage)
    ]
    cuts = plan(results, limit=limit, excess=excess, count_tokens=count_tokens)
    shorter = {places[index]: message for index, message in cuts.items()}
    return [ViewMessage(item.entry_id, shorter.get(place, item.message)) for place, item in enumerate(view)]


def _without_suffix(text: str) -> tuple[str, int]:
    found = _SUFFIX.search(text)
    if found is None:
        return text, 0
    return text[: found.start()], int(found[1].replace(",", "") or 0)


def _head(text: str, room: int) -> str:
    """The first `room` characters of `text`, or fewer, up to the newline that stands nearest before there."""
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
