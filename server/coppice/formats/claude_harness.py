"""Which parts of a Claude Code record the user wrote, and which its harness.

The harness writes with the role of the user: records marked `isMeta`, of another origin or of a sub-agent's
conversation, whose prompts the main model writes; texts enclosed in one of its tags, and attachments, of
which memory files and the words that the user typed during a turn are read.

New versions bring new tags, nearly all with a hyphen. So a text that any such tag encloses is the harness's,
too, unless its record says that a human wrote it. Where a user pastes nothing but an element of the user's
own, as `<my-list>…</my-list>`, it is shown as the harness's if the record does not say so, which those of old
versions do not. To take another agent's orders for the user's would be worse.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, Literal

from coppice.formats.lines import object_at, text_at
from coppice.tree.authorship import HARNESS_BEGINNINGS, HARNESS_TAGS
from coppice.tree.entries import HARNESS_TYPE, MEMORY_TYPE

Author = Literal["user", "harness", "memory"]
CUSTOM_TYPES: Final = {"harness": HARNESS_TYPE, "memory": MEMORY_TYPE}

_TAG: Final = re.compile(r"\s{0,100}<([a-z][a-z-]{0,60}+)(?=[\s>])")
_COMMAND_TAGS: Final = frozenset({"command-name", "command-message"})
_USER_TAGS: Final = _COMMAND_TAGS | {"bash-input"}
_HUMAN: Final = ("human", "user")
_QUEUED: Final = "queued_command"
_MEMORY: Final = frozenset({"instructions", "nested_memory"})


def attachment_of(value: dict[str, Any]) -> dict[str, Any] | None:
    """The attachment of a record that becomes an entry; None where it is of another kind."""
    attachment = value.get("attachment")
    if not isinstance(attachment, dict) or text_at(attachment, "type") not in _MEMORY | {_QUEUED}:
        return None
    return attachment if "".join(_attached_texts(attachment)).strip() else None


def attached(value: dict[str, Any]) -> tuple[Author, str]:
    """Who wrote an attachment that `attachment_of` gives, and its text."""
    attachment = value["attachment"]
    text = "\n\n".join(_attached_texts(attachment))
    if attachment["type"] in _MEMORY:
        return "memory", text
    typed = attachment.get("commandMode", "prompt") == "prompt" and not _is_harness(value)
    return (author_of(text, human=_is_human(value)) if typed else "harness"), text


def _attached_texts(attachment: dict[str, Any]) -> Iterator[str]:
    if attachment["type"] == _QUEUED:
        prompt = attachment.get("prompt")
        blocks = prompt if isinstance(prompt, list) else [{"text": prompt}]
    else:
        files = attachment.get("files")
        blocks = files if isinstance(files, list) else [attachment.get("content")]
    for block in blocks:
        if isinstance(block, dict):
            path = text_at(block, "path")
            text = text_at(block, "text") or text_at(block, "content") or ""
            yield f"{path}\n{text}" if path and text else text


def authors_of(value: dict[str, Any], texts: list[str | None]) -> list[Author]:
    """Who wrote each block of a user record's message; a block that is no text is None in `texts`."""
    if _is_harness(value):
        return ["harness"] * len(texts)
    human = _is_human(value)
    return ["user" if text is None else author_of(text, human=human) for text in texts]


def author_of(text: str, *, human: bool = False) -> Author:
    """Who wrote a text that has the role of the user; `human` where its record says that a human did."""
    tag = _enclosing_tag(text) or ""
    is_new = "-" in tag and tag not in _USER_TAGS and not human
    is_harness = is_new or tag in HARNESS_TAGS or text.lstrip().startswith(HARNESS_BEGINNINGS)
    return "harness" if is_harness else "user"


def command_line(text: str) -> str | None:
    """What the user typed, where `text` is the harness's account of a slash command."""
    match = _TAG.match(text)
    if match is None or match[1] not in _COMMAND_TAGS:
        return None
    name = _between(text, "command-name")
    return f"{name} {_between(text, 'command-args')}".strip() if name else None


def _is_harness(value: dict[str, Any]) -> bool:
    if value.get("isMeta") is True:
        return True
    return not _is_human(value) and (_origin(value) is not None or value.get("isSidechain") is True)


def _is_human(value: dict[str, Any]) -> bool:
    return _origin(value) in _HUMAN


def _origin(value: dict[str, Any]) -> str | None:
    return text_at(object_at(value, "origin"), "kind")


def _enclosing_tag(text: str) -> str | None:
    match = _TAG.match(text)
    return match[1] if match and text.rstrip().endswith(f"</{match[1]}>") else None


def _between(text: str, tag: str) -> str:
    _, _, rest = text.partition(f"<{tag}>")
    return rest.partition(f"</{tag}>")[0].strip()
