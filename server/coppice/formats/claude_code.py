"""Claude Code's transcripts: one record a line, a tree by `uuid` and `parentUuid`.

`claude_tree` describes how the records become a tree.
"""

from collections.abc import Iterator
from io import BufferedReader
from typing import Any, BinaryIO, ClassVar, Final

from coppice.formats.claude_harness import CUSTOM_TYPES, attached
from coppice.formats.claude_messages import (
    UNKNOWN_TOOL,
    assistant_message,
    part_of,
    text_of_message,
    tool_result_message,
)
from coppice.formats.claude_queue import Queue, queued_text
from coppice.formats.claude_records import (
    CallPlace,
    Record,
    compaction_metadata,
    kind_of,
    record_of,
    tool_calls_in,
)
from coppice.formats.claude_rewritten import Rewritten
from coppice.formats.claude_tree import Node, Tree, open_end
from coppice.formats.entry_index import ROOT, EntryIndex, in_order, shown
from coppice.formats.lines import ParsedLine, read_objects, text_at, type_of
from coppice.formats.session import EPOCH, SessionReader, changed_meanwhile, derived_id, read_again
from coppice.formats.source import NotResumableError, Source
from coppice.tree.entries import CompactionEntry, CustomMessageEntry, Entry, MessageEntry
from coppice.tree.messages import UserContent, UserMessage, present

_COPY: Final = "copy"  # of a message, by a mod that rewrote the conversation
_IGNORED: Final = frozenset(
    {
        _COPY,
        "agent-name",
        "agent-setting",
        "ai-title",
        "api-request",
        "api-request-blob",
        "api-request-shape",
        "atis-latch",
        "attachment",
        "cost-state",
        "custom-title",
        "file-history-delta",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "summary",
        "system",
        "tools-used",
        "worktree-state",
    }
)
"""What shows how the session goes on, or repeats others. Of some, messages are made where they hold one."""
_REASONS: Final = {"auto": "threshold", "manual": "manual"}


class Reader(SessionReader):
    """The first reading finds the tree, each further one the messages."""

    format: ClassVar[str] = "claude-code"
    title: ClassVar[str] = "Claude Code transcript"
    ignored: ClassVar[frozenset[str]] = _IGNORED

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._index = EntryIndex(self._log)
        self._records: list[Record] = []
        self._calls: dict[str, CallPlace] = {}
        self._summaries: dict[int, Record] = {}
        self._open_boundary: Record | None = None
        self._rewritten = Rewritten(resumed=self._resumed is not None)
        self._title: str | None = None
        self._title_elsewhere: tuple[str, str] | None = None
        self._queue = Queue()
        self._left_out: set[int] = set()  # queued messages that have records of their own
        self._sidechains = 0
        self._first_sidechain = 0
        self._is_side: bool | None = None
        if self._resumed is not None:
            self._resume(self._resumed)
        with source.open() as file:
            for line in read_objects(file, self._log, source.first_line):
                self._meet(file, line)
        if not self._records:
            raise self._no_usable_line()
        self._warn_of_sidechains()
        if source.growing:
            # Its attachment may follow.
            self._left_out.update(self._queue.unanswered.values())
        self._tree = self._built_tree()
        self.header.name = self._title
        self._kept_back = self._open_end() if source.growing else frozenset[int]()
        self.leaf_id = self._leaf()

    def _entries(self, file: BufferedReader) -> Iterator[Entry]:
        tree = self._tree
        for position in in_order(tree.parents):
            node = tree.nodes[position]
            if node.records[0].kind != "stored" and position not in self._kept_back:
                yield self._entry(file, node, self._parent_id(position))
        self.held = bool(self._kept_back)
        self._note_checkpoint()

    def _open_end(self) -> frozenset[int]:
        """The nodes that further records may change."""
        last = self._records[-1]
        if self._rewritten.is_open(last):
            return frozenset({self._tree.node_of[last.index]})
        return open_end(self._tree)

    def _parent_id(self, position: int) -> str | None:
        parent = self._tree.parents[position]
        return None if parent == ROOT else self._tree.nodes[parent].id

    def _leaf(self) -> str | None:
        leaf = self._tree.leaf
        while leaf is not None and leaf in self._kept_back:
            parent = self._tree.parents[leaf]
            leaf = None if parent == ROOT else parent
        return None if leaf is None else self._tree.nodes[leaf].id

    def _resume(self, state: dict[str, Any]) -> None:
        """The entry that the first record hangs on stands for everything before it."""
        self.header.session_id, self.header.created_at = state["sessionId"], state["createdAt"]
        self._is_side = state["side"]
        if state["link"] is not None:
            index = self._index.add_stored(state["link"])
            if state["parent"] is not None:
                self._records.append(Record(index, "stored", state["parent"], 0, 0))

    def _note_checkpoint(self) -> None:
        """A later reading can begin at the user's last prompt: no reply goes on beyond it."""
        for record in reversed(self._records):
            if record.kind == "user" and not record.results and "user" in record.authors:
                position = self._tree.node_of[record.index] - len(record.authors) + 1
                state = {
                    "sessionId": self.header.session_id,
                    "createdAt": self.header.created_at,
                    "side": self._is_side,
                    "link": record.link,
                    "parent": self._parent_id(position),
                }
                self._next_start = (record.offset, record.line, state)
                return
        if self._source.start is not None:
            start = self._source.start
            self._next_start = (start.offset, start.line, start.state)

    def _meet(self, file: BinaryIO, line: ParsedLine) -> None:
        value = line.value
        self._note_header(value)
        if value.get("type") == _QUEUE_OPERATION:
            self._follow_queue(line)
            return
        kind = None if line.too_deep else kind_of(value)
        if kind is not None and self._is_side is None:
            self._is_side = value.get("isSidechain") is True
        if self._is_aside(value):
            kind = None
        uuid = value.get("uuid")
        if not isinstance(uuid, str) or not uuid:
            if kind is None:
                self._skip(line)
                return
            uuid = derived_id(self.header.session_id, line.number)
            self._log.add(line.number, "no id", "this record has no uuid and was given one")
        elif self._index.has_same(file, uuid, value):
            self._log.add(line.number, "repeated", f"the record {shown(uuid)} is in the file twice")
            return
        copied = None if kind is None else self._rewritten.boundary_of_copy(value)
        if copied is not None:
            self._index.add(line, uuid, copied.index)
            self.skipped[_COPY] += 1
            return
        index = self._index.add(line, uuid, self._parent(line, kind is not None))
        if kind is None:
            self._skip(line)
            return
        kind = self._rewritten.kind(value, kind)
        record = record_of(line, kind, index, self._index.ids[index] or uuid)
        record.link = text_at(value, "parentUuid")
        self._records.append(record)
        self._rewritten.note(record, value)
        self._note_links(record, value)

    def _note_links(self, record: Record, value: dict[str, Any]) -> None:
        if record.kind in ("user", "attachment"):
            self._left_out.update(self._queue.recorded(value))
        elif record.kind == "assistant":
            self._queue.answered()
            for call_id, tool_name in tool_calls_in(value):
                self._calls[call_id] = CallPlace(record.index, tool_name)
        elif record.kind == "boundary":
            self._open_boundary = record
        elif record.kind == "summary" and self._open_boundary is not None:
            self._summaries[self._open_boundary.index] = record
            self._open_boundary = None

    def _follow_queue(self, line: ParsedLine) -> None:
        queued = self._queue.change(line)
        if queued is None:
            if (
                not self._queue.waiting
                and self._resumed is not None
                and line.value.get("operation") == "remove"
            ):
                raise NotResumableError
            self.skipped[_QUEUE_OPERATION] += 1
            return
        uuid = derived_id(self.header.session_id, line.number)
        index = self._index.add(line, uuid, self._records[-1].index if self._records else ROOT)
        self._records.append(record_of(queued, "queued", index, uuid))
        self._queue.given(queued, index)

    def _is_aside(self, value: dict[str, Any]) -> bool:
        """Whether a record is of a side conversation, in the file of another one."""
        return value.get("isSidechain") is True and not self._is_side

    def _parent(self, line: ParsedLine, is_message: bool) -> str | int:  # noqa: FBT001 - it has one caller
        parent = line.value.get("parentUuid", False)
        if isinstance(parent, str):
            return parent
        if parent is None or not is_message or not self._records:
            return ROOT
        self._log.add(
            line.number, "no parent", "this record names no parent and was hung on the one before it"
        )
        return self._records[-1].index

    def _note_header(self, value: dict[str, Any]) -> None:
        header = self.header
        header.session_id = header.session_id or text_at(value, "sessionId") or None
        header.cwd = header.cwd or text_at(value, "cwd") or None
        header.created_at = header.created_at or text_at(value, "timestamp") or None
        for key, name in (("version", "claudeCodeVersion"), ("gitBranch", "gitBranch")):
            if name not in header.extra and (text := text_at(value, key)):
                header.extra[name] = text

    def _skip(self, line: ParsedLine) -> None:
        value = line.value
        kind = str(value.get("type"))
        if self._is_aside(value):
            self._first_sidechain = self._first_sidechain or line.number
            self._sidechains += 1
            return
        self.skipped[kind] += 1
        if line.too_deep:
            self._log.add(line.number, "nested too deep", "this record is nested too deep and was left out")
        elif kind in ("user", "assistant"):
            self._log.add(line.number, "no message", f"this {kind} record has no message and was left out")
        elif kind == "custom-title":
            self._title = text_at(value, "customTitle") or self._title
        elif kind == "summary" and (title := text_at(value, "summary")):
            self._title_elsewhere = (str(value.get("leafUuid")), title)

    def _warn_of_sidechains(self) -> None:
        if self._sidechains:
            self._log.add(
                self._first_sidechain,
                "side conversations",
                f"{self._sidechains:,} records of side conversations were left out, this one the first",
            )

    def _built_tree(self) -> Tree:
        self._index.connect(stored=self._resumed is not None)
        if self._index.stored_parents:
            raise NotResumableError
        if self._title is None and self._title_elsewhere is not None:
            leaf, title = self._title_elsewhere
            self._title = title if self._index.position_of(leaf) is not None else None
        logical = {
            record.index: position
            for record in self._records
            if record.logical_parent is not None
            and (position := self._index.position_of(record.logical_parent)) is not None
        }
        records: list[Record] = []
        previous = ROOT
        for record in self._records:
            if record.index in self._left_out:
                continue
            self._check_resumed(record)
            if record.kind != "boundary" or record.index in self._summaries:
                records.append(record)
            else:
                if self._index.parents[record.index] == ROOT:
                    self._index.parents[record.index] = logical.get(record.index, previous)
                self._log.add(record.line, "no summary", "this compaction has no summary and was left out")
            previous = record.index
        tree = Tree(
            records, self._index.parents, self._calls, self._summaries, logical, check=self._source.check
        )
        for position in tree.cut_circles:
            line = tree.nodes[position].records[0].line
            self._log.add(line, "cycle", "this message is its own ancestor; the circle was cut here")
        return tree

    def _check_resumed(self, record: Record) -> None:
        """Raises NotResumableError for a record that names one of those before this reading."""
        if self._resumed is None:
            return
        named = [uuid for uuid in (record.logical_parent, record.first_kept) if uuid is not None]
        if any(self._index.position_of(uuid) is None for uuid in named) or any(
            call_id not in self._calls for call_id in record.results
        ):
            raise NotResumableError

    def _entry(self, file: BinaryIO, node: Node, parent_id: str | None) -> Entry:
        values = [self._read_again(file, record) for record in node.records]
        timestamp = text_at(values[0], "timestamp") or self.header.created_at or EPOCH
        if node.records[0].kind in ("boundary", "summary"):
            return self._compaction(node, values, parent_id, timestamp)
        place: dict[str, Any] = {"id": node.id, "parent_id": parent_id, "timestamp": timestamp}
        if node.records[0].kind == "assistant":
            return MessageEntry(**place, message=assistant_message(values))
        if node.result is not None:
            result = tool_result_message(values[0], node.result, self._tool_name(node))
            return MessageEntry(**place, message=result)
        match node.records[0].kind:
            case "attachment":
                content: str | list[UserContent] = attached(values[0])[1]
            case "queued":
                content = queued_text(values[0])
            case _:
                content = part_of(values[0], node.author)
        if node.author == "user":
            return MessageEntry(**place, message=UserMessage(content=content))
        custom_type = CUSTOM_TYPES[node.author]
        return CustomMessageEntry(**place, custom_type=custom_type, content=content, display=False)

    def _tool_name(self, node: Node) -> str:
        record = node.records[0]
        place = self._calls.get(record.results[node.result or 0])
        if place is not None:
            return place.tool_name
        self._content_log.add(
            record.line, "no tool call", "this tool result answers a call that is not in the file"
        )
        return UNKNOWN_TOOL

    def _compaction(
        self, node: Node, values: list[dict[str, Any]], parent_id: str | None, timestamp: str
    ) -> CompactionEntry:
        metadata = compaction_metadata(values[0])
        tokens = metadata.get("preTokens")
        optional = present(
            tokens_before=tokens if type(tokens) is int else None,
            reason=_REASONS.get(str(metadata.get("trigger"))),
            first_kept_entry_id=self._kept_entry(node.records[0].first_kept),
        )
        summary = text_of_message(values[-1]["message"])
        return CompactionEntry(
            id=node.id, parent_id=parent_id, timestamp=timestamp, summary=summary, **optional
        )

    def _kept_entry(self, uuid: str | None) -> str | None:
        index = None if uuid is None else self._index.position_of(uuid)
        position = None if index is None else self._tree.node_of.get(index)
        return None if position is None else self._tree.nodes[position].id

    def _read_again(self, file: BinaryIO, record: Record) -> dict[str, Any]:
        value = read_again(file, record.offset)
        kind = kind_of(value)
        if kind != record.kind and (kind, record.kind) != ("user", "summary"):
            raise changed_meanwhile()
        return value


_QUEUE_OPERATION: Final = "queue-operation"
_SNAPSHOT: Final = "file-history-snapshot"
_TYPES: Final = frozenset({"user", "assistant", "system", "summary", "progress", _SNAPSHOT, _QUEUE_OPERATION})
_IDS: Final = frozenset({"sessionId", "uuid", "leafUuid"})


def recognize(value: dict[str, Any]) -> bool:
    """Whether `value` is an object of such a file."""
    kind = type_of(value)
    return kind == _SNAPSHOT or (kind in _TYPES and not _IDS.isdisjoint(value))
