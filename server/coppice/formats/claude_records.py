"""The records of a Claude Code transcript, as far as the tree depends on them: no contents."""

import sys
from dataclasses import dataclass
from typing import Any, Literal

from coppice.formats.claude_harness import Author, attached, attachment_of
from coppice.formats.claude_messages import authors_in, blocks_of, tool_results_of
from coppice.formats.claude_queue import queued_author
from coppice.formats.lines import ParsedLine, object_at, text_at

Kind = Literal["assistant", "user", "attachment", "boundary", "summary", "queued", "stored"]
"""`queued` is a message that was given to the model from the queue. `stored` is no record: it stands for an
entry that an earlier reading gave.
"""


@dataclass(slots=True)
class Record:
    """A record that becomes an entry, or a part of one.

    `index` counts all records that have a uuid. `results` are the ids of the calls that a user record
    answers, `authors` who wrote anything else in it. `link` is the recorded parent. A part of a reply that
    says why the reply ended, other than by calls, is `ended`.
    """

    index: int
    kind: Kind
    uuid: str
    offset: int
    line: int
    message_id: str | None = None
    results: tuple[str, ...] = ()
    authors: tuple[Author, ...] = ()
    logical_parent: str | None = None
    first_kept: str | None = None
    link: str | None = None
    ended: bool = False


@dataclass(frozen=True, slots=True)
class CallPlace:
    """Which record made a tool call, and with which tool."""

    index: int
    tool_name: str


def kind_of(value: dict[str, Any]) -> Kind | None:
    """What becomes of a record; None when it is no part of the conversation."""
    has_message = isinstance(value.get("message"), dict)
    match value.get("type"):
        case "assistant" if has_message:
            return "assistant"
        case "user" if has_message:
            return "summary" if value.get("isCompactSummary") else "user"
        case "attachment" if attachment_of(value) is not None:
            return "attachment"
        case "queue-operation" if value.get("operation") == "enqueue":
            return "queued"
        case "system" if value.get("subtype") == "compact_boundary":
            return "boundary"
        case _:
            return None


def record_of(line: ParsedLine, kind: Kind, index: int, uuid: str) -> Record:
    """What the tree needs of the record in `line`."""
    value = line.value
    record = Record(index, kind, uuid, line.offset, line.number)
    match kind:
        case "assistant":
            record.message_id = text_at(value["message"], "id") or None
            record.ended = value["message"].get("stop_reason") not in (None, "tool_use")
        case "user":
            results = tool_results_of(value["message"])
            record.results = tuple(str(block.get("tool_use_id", "")) for block in results)
            record.authors = authors_in(value)
        case "attachment":
            record.authors = (attached(value)[0],)
        case "boundary":
            record.logical_parent = text_at(value, "logicalParentUuid") or None
            segment = object_at(compaction_metadata(value), "preservedSegment")
            record.first_kept = text_at(segment, "headUuid") or None
        case "queued":
            record.authors = (queued_author(value),)
        case "summary" | "stored":
            pass
    return record


def tool_calls_in(value: dict[str, Any]) -> list[tuple[str, str]]:
    """The ids and tool names of the calls that an assistant record makes."""
    return [
        (block["id"], sys.intern(block["name"]))
        for block in blocks_of(value["message"])
        if block.get("type") == "tool_use"
        and isinstance(block.get("id"), str)
        and isinstance(block.get("name"), str)
    ]


def compaction_metadata(value: dict[str, Any]) -> dict[str, Any]:
    """What a boundary record holds about its compaction; may be empty."""
    return object_at(value, "compactMetadata")
