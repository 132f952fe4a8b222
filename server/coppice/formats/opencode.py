"""The sessions of opencode, which keeps them all in one SQLite database.

Written after the tables `session`, `message` and `part` of version 1.18.33. A reply is a message; what it
consists of, and the results of its calls, are its parts. A compaction is a message of the user with a part
`compaction`, and the reply to it, which is marked as a summary.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import zip_longest
from typing import Any, ClassVar, Final

from typing_extensions import override

from coppice.formats.answers import answered, chosen
from coppice.formats.foreign_database import object_of, rows_of
from coppice.formats.lines import object_at, objects_at, text_at
from coppice.formats.session import EPOCH, SessionReader, check_number_of_entries, time_of
from coppice.formats.source import Checkpoint, NotResumableError, Source
from coppice.tree.entries import HARNESS_TYPE, CompactionEntry, CustomMessageEntry, Entry, MessageEntry
from coppice.tree.messages import (
    DENIED,
    AssistantContent,
    AssistantMessage,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserContent,
    UserMessage,
    present,
)
from coppice.tree.nesting import storable

_STOP_REASONS: Final[dict[str, StopReason]] = {"stop": "stop", "length": "length", "tool-calls": "toolUse"}
_ASKING_TOOL: Final = "question"
_OWN_TOOLS: Final = (
    *("apply_patch", "bash", "codesearch", "edit", "glob", "grep", "list", "lsp", "patch", "plan_exit"),
    *("read", "skill", "task", "todoread", "todowrite", "webfetch", "websearch", "write"),
)
"""packages/opencode/src/tool/registry.ts, with `patch` of earlier versions. One of a plug-in or of an MCP
server has any words as its error.
"""
_DENIAL: Final = "The user rejected permission to use this specific tool call"
_ENDED: Final = ("completed", "error")
_SESSION: Final = (
    "SELECT id, directory, title, version, revert, time_created, parent_id FROM session WHERE id = ?"
)
_MESSAGES: Final = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS: Final = "SELECT message_id, data, time_updated FROM part WHERE session_id = ? ORDER BY message_id, id"
_LATER: Final = """
SELECT id FROM message
WHERE session_id = ? AND (time_created, id) > (SELECT time_created, id FROM message WHERE id = ?)
"""
_LATER_MESSAGES: Final = f"SELECT id, data FROM message WHERE id IN ({_LATER}) ORDER BY time_created, id"  # noqa: S608 - no values
_LATER_PARTS: Final = f"""
SELECT message_id, data, time_updated FROM part WHERE message_id IN ({_LATER}) ORDER BY message_id, id
"""  # noqa: S608 - no values
_LOW_BITS: Final = 2**32 - 1  # of each time in milliseconds: a sum of 2**31 of them is an integer of SQLite
_BEFORE: Final = f"""
SELECT (SELECT count(*) FROM message WHERE session_id = ? AND id NOT IN ({_LATER})),
    count(*), ifnull(sum(CASE typeof(time_updated) WHEN 'integer' THEN time_updated & {_LOW_BITS} END), 0)
FROM part
WHERE session_id = ? AND message_id IN (SELECT id FROM message WHERE session_id = ?)
    AND message_id NOT IN ({_LATER}) AND EXISTS (SELECT 1 FROM message WHERE id = ?)
"""  # noqa: S608 - no values
"""Of what was read up to a message: how many messages and parts, and the sum of when the parts changed, of
each the low bits, which cannot overflow.
"""


@dataclass
class _Message:
    id: str
    data: dict[str, Any]
    parts: list[dict[str, Any]] = field(default_factory=list)
    changed: int = 0
    """The sum of when its parts did, of each the low bits."""

    @property
    def role(self) -> str | None:
        return text_at(self.data, "role")

    @property
    def is_complete(self) -> bool:
        """Whether nothing of it changes any more."""
        return self.role == "user" or object_at(self.data, "time").get("completed") is not None

    def part(self, kind: str) -> dict[str, Any] | None:
        """The first part of this type."""
        return next((part for part in self.parts if part.get("type") == kind), None)


class Reader(SessionReader):
    """Reads the session `source.part` of the database; from a start on, what came after a message.

    A start holds while no part of an earlier message is another, and nothing is taken back. What else is
    recorded of a message, once that is complete, is not read again.
    """

    format: ClassVar[str] = "opencode"
    title: ClassVar[str] = "opencode session"
    ignored: ClassVar[frozenset[str]] = frozenset(
        {
            "agent",
            "compaction",
            "patch",
            "reasoning",
            "retry",
            "snapshot",
            "step-finish",
            "step-start",
            "subtask",
            "text",
        }
    )

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._session_id = source.part or ""
        rows = [*rows_of(source, _SESSION, self._session_id)]
        if not rows:
            raise self._no_usable_line()
        id_, directory, title, version, revert, created, parent = rows[0]
        header = self.header
        header.session_id = self._session_id or str(id_)
        header.cwd = directory if isinstance(directory, str) else None
        header.name = title if isinstance(title, str) else None
        header.created_at = time_of(created, 1000)
        header.of_sub_agent = parent is not None
        header.extra = present(opencodeVersion=version if isinstance(version, str) else None)
        self._reverted = text_at(object_of(revert), "messageID")
        self._passed: dict[str, Any] | None = None
        if self._resumed is not None and (
            self._reverted is not None or not self._is_as_it_was(self._resumed)
        ):
            raise NotResumableError

    @property
    @override
    def checkpoint(self) -> Checkpoint | None:
        return None if self._passed is None else Checkpoint(0, 1, None, self._passed)

    def _is_as_it_was(self, state: dict[str, Any]) -> bool:
        session, message = self._session_id, state["message"]
        values = (session, session, message, session, session, session, message, message)
        return [list(row) for row in rows_of(self._source, _BEFORE, *values)] == [state["before"]]

    @override
    def _entries(self, file: BufferedReader) -> Iterator[Entry]:
        del file
        state = self._resumed or {"leaf": None, "firstKept": None, "before": [0, 0, 0]}
        self.leaf_id, self.held, self._passed = state["leaf"], False, self._resumed
        self._first_kept: str | None = state["firstKept"]
        leaf: tuple[str | None] | None = None
        may_pass = self._reverted is None
        messages, parts, changed = state["before"]
        for message in self._messages():
            if self._source.growing and not message.is_complete:
                self.held = True
                break
            if message.id == self._reverted:
                leaf = (self.leaf_id,)
            for entry in self._made_of(message):
                yield entry
                self.leaf_id = entry.id
            messages, parts = messages + 1, parts + len(message.parts)
            changed += message.changed
            may_pass = may_pass and message.is_complete
            if may_pass:
                self._passed = {
                    "message": message.id,
                    "before": [messages, parts, changed],
                    "leaf": self.leaf_id,
                    "firstKept": self._first_kept,
                }
        # What was taken back stays a branch.
        self.leaf_id = self.leaf_id if leaf is None else leaf[0]

    def _messages(self) -> list[_Message]:
        given, of_messages, of_parts = [self._session_id], _MESSAGES, _PARTS
        if self._resumed is not None:
            given, of_messages, of_parts = [*given, self._resumed["message"]], _LATER_MESSAGES, _LATER_PARTS
        rows = rows_of(self._source, of_messages, *given)
        messages = {str(id_): _Message(str(id_), object_of(data)) for id_, data in rows}
        check_number_of_entries(len(messages))
        for message_id, data, updated in rows_of(self._source, of_parts, *given):
            message = messages.get(str(message_id))
            if message is not None:
                message.parts.append(object_of(data))
                if type(updated) is int:
                    message.changed += updated & _LOW_BITS
        return [*messages.values()]

    def _made_of(self, message: _Message) -> Iterator[Entry]:
        if message.role == "user":
            cut = message.part("compaction")
            if cut is None:
                yield from self._user_entries(message)
            else:
                self._first_kept = text_at(cut, "tail_start_id")
        elif message.role == "assistant" and message.data.get("summary") is True:
            summary = "\n".join(_texts(message.parts))
            if summary:
                first_kept, self._first_kept = self._first_kept, None
                optional = present(first_kept_entry_id=first_kept)
                yield CompactionEntry(**self._place(message, message.id), summary=summary, **optional)
        elif message.role == "assistant":
            yield from self._reply(message)
        else:
            self.skipped[str(message.role)[:100]] += 1

    def _user_entries(self, message: _Message) -> Iterator[Entry]:
        words: list[UserContent] = []
        harness: list[UserContent] = []
        for part in message.parts:
            if part.get("type") == "text":
                made = part.get("synthetic") is True or part.get("ignored") is True
                (harness if made else words).append(TextContent(text=text_at(part, "text") or ""))
            elif part.get("type") == "file":
                words.append(TextContent(text=f"[file: {text_at(part, 'filename') or 'without a name'}]"))
            else:
                self.skipped[str(part.get("type"))[:100]] += 1
        if harness:
            yield CustomMessageEntry(
                **self._place(message, f"{message.id}#harness"),
                custom_type=HARNESS_TYPE,
                content=harness,
                display=False,
            )
        if words:
            yield MessageEntry(**self._place(message, message.id), message=UserMessage(content=words))

    def _reply(self, message: _Message) -> Iterator[Entry]:
        content: list[AssistantContent] = []
        results: list[ToolResultMessage] = []
        for part in message.parts:
            text = text_at(part, "text")
            match part.get("type"):
                case "text" if text:
                    content.append(TextContent(text=text))
                case "reasoning" if text:
                    content.append(ThinkingContent(thinking=text))
                case "tool":
                    content.append(_call(part))
                    results += _results(part)
                case kind:
                    self.skipped[str(kind)[:100]] += 1
        error = object_of(message.data.get("error"))
        if not content and not error:
            return
        finish = text_at(message.data, "finish") or ""
        optional = present(
            model=text_at(message.data, "modelID"),
            usage=_usage(message.data.get("tokens")),
            error_message=(text_at(object_of(error.get("data")), "message") or text_at(error, "name"))
            if error
            else None,
        )
        reply = AssistantMessage(
            content=content,
            provider=text_at(message.data, "providerID") or "opencode",
            stop_reason="error" if error else _STOP_REASONS.get(finish, "stop"),
            **optional,
        )
        yield MessageEntry(**self._place(message, message.id), message=reply)
        for number, result in enumerate(results):
            yield MessageEntry(**self._place(message, f"{message.id}#{number}"), message=result)

    def _place(self, message: _Message, entry_id: str) -> dict[str, Any]:
        created = object_at(message.data, "time").get("created")
        timestamp = time_of(created, 1000) or self.header.created_at or EPOCH
        return {"id": entry_id, "parent_id": self.leaf_id, "timestamp": timestamp}


def _call(part: dict[str, Any]) -> ToolCall:
    return ToolCall(
        id=text_at(part, "callID") or "",
        name=text_at(part, "tool") or "unknown",
        arguments=storable(object_at(object_of(part.get("state")), "input")),
    )


def _results(part: dict[str, Any]) -> Iterator[ToolResultMessage]:
    state = object_of(part.get("state"))
    status = text_at(state, "status")
    if status not in _ENDED:
        return
    code = object_of(state.get("metadata")).get("exit")
    text = (text_at(state, "output") if status == "completed" else text_at(state, "error")) or ""
    tool = text_at(part, "tool") or "unknown"
    details: dict[str, Any] | None = {"exitCode": code} if type(code) is int else None
    if status == "error" and tool in _OWN_TOOLS and text.startswith(_DENIAL):
        details = DENIED
    elif status == "completed" and tool == _ASKING_TOOL:
        details = answered(_answers(state))
    yield ToolResultMessage(
        tool_call_id=text_at(part, "callID") or "",
        tool_name=tool,
        content=[TextContent(text=text)],
        is_error=status == "error" or bool(type(code) is int and code),
        **present(details=details),
    )


def _answers(state: dict[str, Any]) -> Iterator[str | None]:
    """What the user answered, where the call has it apart from the questions."""
    answers = object_of(state.get("metadata")).get("answers")
    questions = objects_at(object_at(state, "input"), "questions")
    for each, _ in zip_longest(answers if isinstance(answers, list) else (), questions):
        yield chosen(each)


def _usage(value: object) -> Usage | None:
    tokens = object_of(value)
    cache = object_of(tokens.get("cache"))
    counts = [tokens.get("input"), tokens.get("output"), cache.get("read"), cache.get("write")]
    given, output, read, written = (count if type(count) is int else 0 for count in counts)
    if not given + read + written:
        return None
    total = given + output + read + written
    return Usage(input=given, output=output, cache_read=read, cache_write=written, total_tokens=total)


def _texts(parts: list[dict[str, Any]]) -> list[str]:
    return [text for part in parts if part.get("type") == "text" and (text := text_at(part, "text"))]
