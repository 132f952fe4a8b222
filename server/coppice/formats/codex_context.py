"""What a user message of a rollout is, the user's words or context of Codex's, and the text of a compaction.

Codex sends instructions, the environment and reports of its own with the role of the user. Such a text is
enclosed in one tag and is not recorded as typed by the user, or begins with a heading that Codex writes.
"""

import re
from collections.abc import Container, Iterator
from typing import Any, Final

from coppice.formats.codex_messages import content_of, texts_of
from coppice.tree.messages import (
    BashExecutionMessage,
    ImageContent,
    TextContent,
    UserContent,
    UserMessage,
    present,
    text_of,
)

ENCRYPTED: Final = "The summary of this compaction is encrypted for its provider and cannot be read here."
KEPT: Final = "Messages that the compaction kept word for word, oldest first:"

_TAG: Final = re.compile(r"\s{0,100}<([A-Za-z][\w -]{0,60}+)>")
_HEADINGS: Final = (
    "# AGENTS.md instructions for ",
    "# Context from my IDE setup:",
    "# Files mentioned by the user:",
)
_REQUEST: Final = "\n## My request for Codex:"
_USER_COMMAND: Final = "user_shell_command"
_EXIT_CODE: Final = re.compile(r"Exit code: (-?\d{1,10})")


def fingerprint(text: str) -> int:
    """Identifies a typed text within one reading of a file."""
    return hash(text.strip())


def pieces_of(content: object, typed: Container[int]) -> Iterator[UserMessage | BashExecutionMessage | str]:
    """The pieces of a user message in their order: what the user wrote or ran, and context as plain text.

    The user's parts that follow one another are one message. `typed` are the fingerprints of what is recorded
    as typed by the user.
    """
    words: list[UserContent] = []
    for part in content_of(content):
        for piece in _divided(part, typed):
            if isinstance(piece, TextContent | ImageContent):
                words.append(piece)
                continue
            if words:
                yield UserMessage(content=words)
                words = []
            yield piece
    if words:
        yield UserMessage(content=words)


def summary_text(written: object, kept: list[dict[str, Any]], typed: Container[int]) -> str:
    """What is left of the messages before a compaction: its summary, and the messages that it `kept`."""
    summary = written if isinstance(written, str) and written.strip() else ENCRYPTED
    texts = [text for item in kept for text in _kept_texts(item, summary, typed)]
    return "\n\n".join([summary, *([KEPT, *texts] if texts else [])])


def _kept_texts(item: dict[str, Any], summary: str, typed: Container[int]) -> Iterator[str]:
    """The texts of a message, without the summary itself, which is one of the messages."""
    if item.get("role") == "assistant":
        yield from (f"Assistant: {text}" for text in texts_of(item.get("content")))
    elif item.get("role") == "user":
        for piece in pieces_of(item.get("content"), typed):
            text = text_of(piece.content).strip() if isinstance(piece, UserMessage) else ""
            if text and text not in summary:
                yield f"User: {text}"


def _divided(part: UserContent, typed: Container[int]) -> Iterator[UserContent | BashExecutionMessage | str]:
    text = part.text if isinstance(part, TextContent) else ""
    tag = None if fingerprint(text) in typed else _enclosing_tag(text)
    if tag == _USER_COMMAND:
        yield _command(text)
    elif tag is not None:
        yield text
    elif text.startswith(_HEADINGS):
        context, separator, request = text.partition(_REQUEST)
        yield context
        if separator and request.strip():
            yield TextContent(text=request.strip())
    else:
        yield part


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
    inside, found, _ = rest.rpartition(f"</{tag}>")
    return (inside if found else rest).strip("\n")
