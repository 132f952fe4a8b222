"""The searchable text of an entry."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from coppice.tree.entries import HARNESS_TYPE, MEMORY_TYPE

HEAD_CHARS: Final = 16_000  # characters: with the end, 98 % of 4,611 recorded texts are searched whole
TAIL_CHARS: Final = 4_000
"""Of a longer text only the beginning and the end are searched: errors are at the end of an output."""

_BEYOND_CHARS: Final = 4_000  # characters beyond a cut that tell what is cut there: keys are shorter
_CONTENT_ROLES: Final = frozenset({"user", "developer", "system", "custom", "assistant", "toolResult"})


def shortened(text: str, readable: Callable[[str], str] = str) -> str:
    """What is searched of a text, with what may be shown of it, which has the same length, in its place.

    `readable` makes that, and sees some characters beyond each cut: of a key that is cut it knows nothing.
    """
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return readable(text)
    head = readable(text[: HEAD_CHARS + _BEYOND_CHARS])[:HEAD_CHARS]
    return f"{head}\n…\n{readable(text[-TAIL_CHARS - _BEYOND_CHARS :])[-TAIL_CHARS:]}"


def whole_text(entry_type: str, body: dict[str, Any]) -> str:
    """The text of messages, tool calls with their arguments, tool results, commands and summaries.

    `body` is an entry's JSON; one that is damaged gives no text, as do thinking, images, metadata, and what
    the harness of another agent wrote.
    """
    return "\n".join(parts_of(entry_type, body))


def parts_of(entry_type: str, body: dict[str, Any]) -> list[str]:
    """The texts that a line end joins to the whole text."""
    try:
        parts = [part for part in _parts(entry_type, body) if part]
        return parts if all(isinstance(part, str) for part in parts) else []
    except (LookupError, TypeError, AttributeError):
        return []


def _parts(entry_type: str, body: dict[str, Any]) -> Iterator[str]:
    match entry_type:
        case "message":
            yield from _parts_of_message(body["message"])
        case "compaction" | "branch_summary":
            yield body["summary"]
        case "custom_message" if body["customType"] not in (HARNESS_TYPE, MEMORY_TYPE):
            yield from _parts_of_content(body["content"])
        case _:
            return


def _parts_of_message(message: dict[str, Any]) -> Iterator[str]:
    role = message["role"]
    if role in _CONTENT_ROLES:
        yield message["toolName"] if role == "toolResult" else ""
        yield from _parts_of_content(message["content"])
        yield (message.get("errorMessage") or "") if role == "assistant" else ""
    elif role == "bashExecution":
        yield message["command"]
        yield message["output"]
    else:
        yield message["summary"]


def _parts_of_content(content: str | list[dict[str, Any]]) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if block["type"] == "text":
            yield block["text"]
        elif block["type"] == "toolCall":
            yield block["name"]
            yield from leaves(block["arguments"])


def leaves(value: Any) -> Iterator[str]:
    """The names and values in a JSON value, in order. Values may be nested deeper than Python recurses."""
    left = [value]
    while left:
        match left.pop():
            case dict() as named:
                for name, inner in reversed(named.items()):
                    left += [inner, name]
            case list() as listed:
                left += reversed(listed)
            case None | bool():
                pass
            case leaf:
                yield str(leaf)
