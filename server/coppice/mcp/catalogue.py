"""The five tools as a client sees them.

Agents find tools by words and pay for each word in every session: the descriptions hold the words that a
model looks for, and are short. tests/mcp_server bounds their tokens.
"""

from typing import Any, Final

INSTRUCTIONS: Final = (
    "Coppice keeps this project's conversation history, also past sessions and what was compacted. Search it "
    "before debugging an error, repeating work, or asking the user for something said earlier."
)

_TEXT: Final = {"type": "string"}
_CURSOR: Final = {"type": "string", "description": "next page"}
_INTEGER: Final = {"type": "integer"}


def _tool(
    name: str, description: str, properties: dict[str, Any], required: tuple[str, ...] = (), **hints: bool
) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    annotations = {"readOnlyHint": True, "openWorldHint": False} | hints
    return {"name": name, "description": description, "inputSchema": schema, "annotations": annotations}


TOOLS: Final = (
    _tool(
        "history_search",
        "Search the history of this conversation and of past sessions in this project, word for word, also "
        "what was compacted or summarized: messages, decisions, commands, output, errors, edits. Call it "
        "before debugging an error, before redoing work, and when something earlier is referred to. Ask in "
        "your own words or with exact names. By default this session, then the project.",
        {
            "query": _TEXT,
            "scope": {"enum": ["session", "project", "all"]},
            "path": {"type": "string", "description": "about this file"},
            "kind": {"enum": ["message", "command", "edit", "error", "summary"]},
            "role": {"enum": ["user", "assistant", "tool"]},
            "agent": {"type": "string", "description": "e.g. codex"},
            "since": {"type": "string", "description": "ISO date"},
            "until": _TEXT,
            "cursor": _CURSOR,
            "maxTokens": _INTEGER,
        },
        ("query",),
    ),
    _tool(
        "history_read",
        "Read exact text from the history: entries by the ids of a search, their neighbours, or the end of "
        "an earlier session.",
        {
            "ids": {"type": "array", "items": _TEXT},
            "session": {"type": "string", "description": "default: this one"},
            "around": {"type": "string", "description": "an id"},
            "before": {"type": "integer", "description": "entries before it"},
            "after": _INTEGER,
            "cursor": _CURSOR,
            "maxTokens": _INTEGER,
        },
    ),
    _tool(
        "history_overview",
        "What earlier sessions worked on, newest first: requests, commits, open failures, tasks. Of this "
        "conversation, the facts of all its work, also from before it was compacted. Call it when resuming.",
        {"session": _TEXT, "agent": _TEXT, "maxTokens": _INTEGER},
    ),
    _tool(
        "note_add",
        "Remember a lasting note for this project: a decision, rule or finding that future sessions and "
        "other agents need. No secrets.",
        {"text": _TEXT},
        ("text",),
        readOnlyHint=False,
        destructiveHint=False,
    ),
    _tool("note_list", "Recall the project's lasting notes, with author and date.", {}),
)
"""In the order in which they are listed."""
NAMES: Final = frozenset(tool["name"] for tool in TOOLS)
