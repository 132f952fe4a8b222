"""The rows of Hermes' table of messages."""

import re
from dataclasses import dataclass
from typing import Any, Final

from coppice.formats.foreign_database import json_of, object_of
from coppice.formats.lines import text_at
from coppice.formats.session import time_of
from coppice.tree.messages import ToolCall
from coppice.tree.nesting import storable

QUERY: Final = """
SELECT *, id, role, content, tool_call_id, tool_calls, tool_name, timestamp,
    coalesce(reasoning_content, reasoning) AS thinking, active OR compacted AS is_valid
FROM messages WHERE session_id = ? ORDER BY id
"""  # what every version has by its name, so that a database of another kind is refused
HARNESS: Final = (
    r"\s*(?:\[System: |\[Your active task list was preserved across |\[Planning state preserved|"
    r"\[ASYNC DELEGATION |"
    r"\[IMPORTANT: (?:Background process |\d+ background processes |Watch[- ]pattern|"
    r"MCP servers have been reloaded)|"
    r"Cronjob Response:|Continue from the compressed conversation context above\.)"
)
"""How messages begin that Hermes writes with the role of the user, of versions 0.19 to 2026.9.21: background
processes and sub-agents (tools/process_registry_notifications.py), `_SYNTHETIC_USER_ROW_PREFIXES` of
agent/context_compressor.py, and gateway/run.py. A pattern of Python, also for the engine of ours.
"""
_IS_HARNESS: Final = re.compile(HARNESS)
_JSON: Final = "\0json:"  # before content that is no text
_SUMMARIES: Final = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:")
_PRIOR: Final = "[PRIOR CONTEXT — for reference only; not a new message]\n"
_SUMMARY_BELOW: Final = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]"
_SUMMARY_END: Final = "--- END OF CONTEXT SUMMARY"


@dataclass(frozen=True)
class Row:
    """`is_valid` is unset for what the user took back, `is_of_user` for what Hermes wrote."""

    id: str
    role: str
    text: str
    call_id: str | None
    calls: tuple[ToolCall, ...]
    tool: str | None
    timestamp: str | None
    thinking: str | None
    is_valid: bool
    is_of_user: bool

    @property
    def identity(self) -> tuple[object, ...]:
        """The same for a message that is written again, of which Hermes may have shortened the text."""
        if self.call_id or self.calls:
            return (self.role, self.call_id, *(call.id for call in self.calls))
        return (self.role, self.prior)

    @property
    def has_summary_below(self) -> bool:
        """Whether a summary was added to it."""
        return _SUMMARY_BELOW in self.text

    @property
    def prior(self) -> str:
        """The text, without a summary that was added to it."""
        if _SUMMARY_BELOW not in self.text:
            return self.text
        return self.text.split(_SUMMARY_BELOW, 1)[0].removeprefix(_PRIOR).removesuffix("\n\n")

    @property
    def summary(self) -> str | None:
        """The summary that this message is, or that was added to it."""
        _, mark, below = self.text.partition(_SUMMARY_BELOW)
        text = (below if mark else self.text).strip()
        if self.role not in ("user", "assistant") or not (mark or text.startswith(_SUMMARIES)):
            return None
        text = text.split(_SUMMARY_END, 1)[0].strip()
        instructions, _, rest = text.partition("\n")
        return rest.strip() or instructions if text.startswith(_SUMMARIES) else text


def row_of(value: dict[str, Any]) -> Row:
    """The row that `QUERY` gave. Newer versions have a `display_kind` for what the user did not write."""
    role, text = str(value["role"]), _text(value["content"])
    listed = json_of(value["tool_calls"])
    return Row(
        id=str(value["id"]),
        role=role,
        text=text,
        call_id=text_at(value, "tool_call_id"),
        calls=tuple(_call(each) for each in listed if isinstance(each, dict))
        if isinstance(listed, list)
        else (),
        tool=text_at(value, "tool_name"),
        timestamp=time_of(value["timestamp"]),
        thinking=text_at(value, "thinking"),
        is_valid=bool(value["is_valid"]),
        is_of_user=role == "user" and not value.get("display_kind") and not _IS_HARNESS.match(text),
    )


def _text(content: object) -> str:
    if not isinstance(content, str):
        return "" if content is None else str(content)
    if not content.startswith(_JSON):
        return content
    parts = json_of(content.removeprefix(_JSON))
    texts = [_text_of(part) for part in parts] if isinstance(parts, list) else [str(parts)]
    return "\n".join(filter(None, texts))


def _text_of(part: object) -> str:
    if not isinstance(part, dict):
        return str(part)
    return text_at(part, "text") or ("" if part.get("type") == "text" else f"[{part.get('type')}]")


def _call(value: dict[str, Any]) -> ToolCall:
    function = object_of(value.get("function"))
    given = json_of(function.get("arguments"))
    arguments = given if isinstance(given, dict) else {} if given in (None, "") else {"input": given}
    name = text_at(function, "name") or "unknown"
    return ToolCall(id=text_at(value, "id") or "", name=name, arguments=storable(arguments))
