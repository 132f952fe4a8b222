"""The parts of a user message of a rollout: the user's words, or context that Codex put there.

Codex sends instructions, the environment and reports of its own with the role of the user. Such a text is
enclosed in one tag and is not recorded as typed by the user, or begins with a heading that Codex writes.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Any, Final

from coppice.formats.codex_messages import content_of
from coppice.tree.messages import BashExecutionMessage, TextContent, UserContent

CONTEXT_TYPE: Final = "codex.context"
"""The `customType` of instructions, environment and reports."""

_TAG: Final = re.compile(r"\s{0,100}<([A-Za-z][\w -]{0,60}+)>")
_HEADINGS: Final = (
    "# AGENTS.md instructions for ",
    "# Context from my IDE setup:",
    "# Files mentioned by the user:",
)
_REQUEST: Final = "\n## My request for Codex:"
_USER_COMMAND: Final = "user_shell_command"
_EXIT_CODE: Final = re.compile(r"Exit code: (-?\d{1,10})")


@dataclass(frozen=True)
class Words:
    """What the user wrote."""

    content: list[UserContent]


@dataclass(frozen=True)
class Context:
    """What Codex added, word for word."""

    text: str


Piece = Words | Context | BashExecutionMessage


def fingerprint(text: str) -> int:
    """Identifies a typed text within one reading of a file."""
    return hash(text.strip())


def pieces_of(content: object, typed: Container[int]) -> Iterator[Piece]:
    """The pieces of a user message in their order; the user's parts that follow one another are one piece.

    `typed` are the fingerprints of what is recorded as typed by the user.
    """
    words: list[UserContent] = []
    for part in content_of(content):
        for piece in _divided(part, typed):
            if isinstance(piece, Words):
                words += piece.content
                continue
            if words:
                yield Words(words)
                words = []
            yield piece
    if words:
        yield Words(words)


def _divided(part: UserContent, typed: Container[int]) -> Iterator[Piece]:
    text = part.text if isinstance(part, TextContent) else ""
    tag = None if fingerprint(text) in typed else _enclosing_tag(text)
    if tag == _USER_COMMAND:
        yield _command(text)
    elif tag is not None:
        yield Context(text)
    elif text.startswith(_HEADINGS):
        context, separator, request = text.partition(_REQUEST)
        yield Context(context)
        if separator and request.strip():
            yield Words([TextContent(text=request.strip())])
    else:
        yield Words([part])


def _enclosing_tag(text: str) -> str | None:
    """The tag that encloses the whole of `text`; None where there is none."""
    match = _TAG.match(text)
    return match[1] if match and text.rstrip().endswith(f"</{match[1]}>") else None


def _command(text: str) -> BashExecutionMessage:
    """A command that the user ran in Codex, with what it printed."""
    result = _between(text, "result")
    header, _, output = result.partition("Output:\n")
    fields: dict[str, Any] = {}
    if code := _EXIT_CODE.search(header[:200]):
        fields["exit_code"] = int(code[1])
    return BashExecutionMessage(command=_between(text, "command"), output=output or result, **fields)


def _between(text: str, tag: str) -> str:
    _, _, rest = text.partition(f"<{tag}>")
    inside, found, _ = rest.rpartition(f"</{tag}>")
    return (inside if found else rest).strip("\n")
