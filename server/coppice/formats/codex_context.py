"""What a user message of a rollout is, the user's words or context of Codex's, and the text of a compaction.

Codex sends instructions, the environment and reports of its own with the role of the user. Such a text is
enclosed in one tag and is not recorded as typed by the user, or begins with a heading that Codex writes.
Newer rollouts name the origin of each part.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Any, Final

from coppice.formats.codex_messages import content_of, texts_of
from coppice.formats.lines import text_at
from coppice.tree.entries import HARNESS_TYPE, MEMORY_TYPE
from coppice.tree.messages import (
    BashExecutionMessage,
    ImageContent,
    TextContent,
    UserContent,
    UserMessage,
    present,
    text_of,
)

ENCRYPTED: Final = "An earlier summary is encrypted for its provider and cannot be read here."
STARTED_BY: Final = "Main agent"
KEPT: Final = "Messages that the compaction kept word for word, oldest first:"

_TAG: Final = re.compile(
    r"\s{0,100}<([A-Za-z](?:[\w-]| (?![\w-]{1,60}=)){0,60}+)(?: [\w-]{1,60}=[^<>]{0,500})?>"
)
_MEMORY_HEADING: Final = "# AGENTS.md instructions for "
_HEADINGS: Final = (
    _MEMORY_HEADING,
    "# Context from my IDE setup:",
    "# Files mentioned by the user:",
)
_REQUEST: Final = "\n## My request for Codex:"
_PROJECT_DOC: Final = "--- project-doc ---\n\n"
_MEMORY_TAG: Final = "user_instructions"
_USER_ORIGIN: Final = "user"
_MEMORY_ORIGIN: Final = "agents_md"
_USER_COMMAND: Final = "user_shell_command"
_EXIT_CODE: Final = re.compile(r"Exit code: (-?\d{1,10})")


def fingerprint(text: str) -> int:
    """Identifies a typed text within one reading of a file."""
    return hash(text.strip())


@dataclass(frozen=True, slots=True)
class HarnessText:
    """What Codex wrote itself. `custom_type` is that of its entry."""

    text: str
    custom_type: str = HARNESS_TYPE


Piece = UserMessage | BashExecutionMessage | HarnessText


def developer_text(item: dict[str, Any]) -> HarnessText:
    """A message that has not the role of the user."""
    return HarnessText("\n\n".join(texts_of(item.get("content"))))


def pieces_of(item: dict[str, Any], typed: Container[int]) -> Iterator[Piece]:
    """The pieces of a user message in their order: what the user wrote or ran, and what Codex wrote.

    The user's parts that follow one another are one message. `typed` are the fingerprints of what is recorded
    as typed by the user.
    """
    words: list[UserContent] = []
    content = content_of(item.get("content"))
    for part, origin in zip(content, _origins(item, len(content)), strict=True):
        for piece in _divided(part, typed, origin):
            if isinstance(piece, TextContent | ImageContent):
                words.append(piece)
                continue
            if words:
                yield UserMessage(content=words)
                words = []
            yield piece
    if words:
        yield UserMessage(content=words)


def summary_text(
    written: object, items: list[dict[str, Any]], typed: Container[int], user: str = "User"
) -> str:
    """What is left of the messages before a compaction: its summary, and its `items`.

    `user` names who wrote what has the role of the user.
    """
    summary = written if isinstance(written, str) and written.strip() else ENCRYPTED
    texts = [text for item in items for text in _kept_texts(item, summary, typed, user)]
    return "\n\n".join([summary, *([KEPT, *texts] if texts else [])])


def _kept_texts(item: dict[str, Any], summary: str, typed: Container[int], user: str) -> Iterator[str]:
    """The texts of a message, without the summary itself, which is one of the messages."""
    if item.get("role") == "assistant":
        yield from (f"Assistant: {_indented(text)}" for text in texts_of(item.get("content")))
    elif item.get("role") == "user":
        for piece in pieces_of(item, typed):
            text = text_of(piece.content).strip() if isinstance(piece, UserMessage) else ""
            if text and text != summary.strip():
                yield f"{user}: {_indented(text)}"


def _indented(text: str) -> str:
    """The text, no further line of which names a speaker."""
    return text.replace("\n", "\n  ")


def _origins(item: dict[str, Any], count: int) -> list[str | None]:
    """Who wrote each of the `count` parts of a message, as far as Codex recorded it."""
    passed = item.get("internal_chat_message_metadata_passthrough")
    listed = passed.get("content_item_metadata") if isinstance(passed, dict) else None
    if not isinstance(listed, list) or len(listed) != count:
        return [None] * count
    given = [each.get("provenance") if isinstance(each, dict) else None for each in listed]
    return [text_at(each, "type") if isinstance(each, dict) else None for each in given]


def _divided(
    part: UserContent, typed: Container[int], origin: str | None
) -> Iterator[UserContent | BashExecutionMessage | HarnessText]:
    text = part.text if isinstance(part, TextContent) else ""
    written = origin == _USER_ORIGIN or fingerprint(text) in typed
    tag = None if written else _enclosing_tag(text)
    if tag == _USER_COMMAND:
        yield _command(text)
    elif origin == _MEMORY_ORIGIN or tag == _MEMORY_TAG:
        yield _memory(text)
    elif tag is not None or (text and origin not in (None, _USER_ORIGIN)):
        yield HarnessText(text)
    elif text.startswith(_HEADINGS):
        # The last: what is selected in the editor may hold the heading.
        context, separator, request = text.rpartition(_REQUEST)
        added = context if separator else text
        yield _memory(added) if text.startswith(_MEMORY_HEADING) else HarnessText(added)
        if separator and request.strip():
            yield TextContent(text=request.strip())
    else:
        yield part


def _memory(text: str) -> HarnessText:
    """Memory files without the tags below Codex's heading and its line between the user's and a project's."""
    before, opening, rest = text.partition("<INSTRUCTIONS>\n")
    inside, closing, after = rest.rpartition("</INSTRUCTIONS>")
    if before.startswith(_MEMORY_HEADING) and opening and closing:
        text = f"{before}{inside.replace(_PROJECT_DOC, '', 1)}{after}".rstrip()
    return HarnessText(text, MEMORY_TYPE)


def _enclosing_tag(text: str) -> str | None:
    """The tag that encloses the whole of `text`; None where there is none."""
    match = _TAG.match(text)
    return match[1] if match and text.rstrip().endswith(f"</{match[1]}>") else None


def _command(text: str) -> BashExecutionMessage:
    """A command that the user ran in Codex, with what it printed."""
    result = _between(text, "result")
    header, _, output = result.partition("Output:\n")
    code = _EXIT_CODE.search(header[:200])
    return BashExecutionMessage(
        command=_between(text, "command"),
        output=output or result,
        **present(exit_code=int(code[1]) if code else None),
    )


def _between(text: str, tag: str) -> str:
    _, _, rest = text.partition(f"<{tag}>")
    inside, end_tag, _ = rest.rpartition(f"</{tag}>")
    return (inside if end_tag else rest).strip("\n")
