"""`history_overview`: what the sessions of a project worked on, newest first."""

from typing import Final

from coppice.compaction.writing.facts_text import facts_text
from coppice.errors import CoppiceError
from coppice.mcp.arguments import OverviewArguments
from coppice.mcp.project import Project, label_of, resume_command
from coppice.mcp.rendering import safe
from coppice.redaction import masked
from coppice.service.compaction.work_ledger import ledger_until
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.notes.notebook import notes_id
from coppice.store.schema.records import ConversationRecord
from coppice.tokens.counting import estimate_tokens
from coppice.tree.tags import attribute

SESSION_TAG: Final = "history-session"
_RUNNING_SHARE: Final = 0.5
"""Of the tokens, for the running session. A guess: its own facts are what is needed first."""
_MOST: Final = 12  # sessions that are described: at 2,400 tokens each gets some 200
_LEAST_TOKENS: Final = 100
"""Tokens with which a session can be described: the facts of all seven recorded ones then have a request, the
state and the last report; with 80 those of four."""
_FRAME_TOKENS: Final = 70  # tokens of a session's tags, 39 to 47 of six recorded ones, and of a short name
_AT_ONCE: Final = 6  # sessions among which what is left is divided (guess)
_TITLE_CHARS: Final = 200  # characters of a first message; four fifths of 138 recorded messages have fewer


def overview(project: Project, wanted: OverviewArguments) -> str:
    """The facts of the named session, or of the running one and then of the newest others."""
    store = project.store
    running = None if wanted.agent else project.running()
    if wanted.session:
        ids = [project.named(wanted.session)]
    else:
        newest = store.newest_conversations(project.scope, wanted.agent, _MOST + 1)
        notes = notes_id(project.workspace)
        ids = [each for each in newest if each not in (running, notes)][:_MOST]
        ids = [running, *ids] if running is not None else ids
    if not ids:
        whose = f" of {attribute(wanted.agent)}" if wanted.agent else ""
        return f"Nothing{whose} is stored for this project yet."
    parts: list[str] = []
    left = wanted.max_tokens
    for number, conversation_id in enumerate(ids):
        if left < _LEAST_TOKENS + _FRAME_TOKENS:
            break
        share = max(left // min(len(ids) - number, _AT_ONCE), _LEAST_TOKENS + _FRAME_TOKENS)
        if conversation_id == running:
            share = left if len(ids) == 1 else int(left * _RUNNING_SHARE)
        part = _described(project, conversation_id, share - _FRAME_TOKENS, running)
        left -= estimate_tokens(part)
        parts.append(part)
    extent = store.extent(project.scope, wanted.agent)
    if extent.conversations > len(parts) and not wanted.session:
        parts.append(f"{len(parts)} of {extent.conversations:,} conversations. history_search searches all.")
    return "\n".join(parts)


def _described(project: Project, conversation_id: str, tokens: int, running: str | None) -> str:
    record = project.store.conversation(conversation_id)
    facts = {
        "session": label_of(record),
        "last": record.modified_at[:16],
        "entries": record.entry_count,
        "resume": resume_command(record) or "",
    }
    if conversation_id == running:
        facts = {"session": "this one", "entries": record.entry_count}
    head = " ".join(f'{name}="{attribute(value)}"' for name, value in facts.items() if value != "")
    facts_text = _facts(project, record, tokens)
    # Facts begin with the requests.
    title = record.name or ("" if facts_text else record.first_message) or ""
    title = masked(" ".join(title.split()))[:_TITLE_CHARS]
    body = safe("\n".join(part for part in (title, facts_text) if part))
    return f"<{SESSION_TAG} {head}>\n{body}\n</{SESSION_TAG}>"


def _facts(project: Project, record: ConversationRecord, tokens: int) -> str:
    settings = project.settings.of(project.workspace)
    try:
        path = ConversationPath.read(project.store, record, settings, None)
        if path.end is None:
            return ""
        ledger = ledger_until(path, path.end.depth)
    except CoppiceError as error:
        return f"(It cannot be read: {error})"
    return facts_text(ledger, tokens)
