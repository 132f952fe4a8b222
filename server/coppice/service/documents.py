"""Conversations as documents that an editor shows read-only, made anew each time they are looked at."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Final, Literal
from urllib.parse import quote, unquote, urlsplit

from coppice.formats.markdown import entry_text, message_text, title
from coppice.service.context import Context
from coppice.service.path_reading import Path, read_path
from coppice.service.usage import Counter, context_tokens
from coppice.tree.view import view_of

SCHEME: Final = "coppice"

LONGEST_DOCUMENT: Final = 2_000_000
"""Characters of a document. An editor is no place for more; the newest part is shown."""

DocumentName = Literal["context.md", "transcript.md"]
NAMES: Final[dict[str, DocumentName]] = {"context.md": "context.md", "transcript.md": "transcript.md"}


def document_of_uri(uri: str) -> tuple[str, DocumentName] | None:
    """The conversation and the document that `coppice:/<conversationId>/<name>` names, or None."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    conversation_id, _, name = unquote(parts.path).strip("/").rpartition("/")
    if parts.scheme != SCHEME or parts.netloc or not conversation_id or name not in NAMES:
        return None
    return conversation_id, NAMES[name]


def uri_of_document(conversation_id: str, name: DocumentName) -> str:
    return f"{SCHEME}:/{quote(conversation_id, safe='')}/{name}"


class Documents:
    def __init__(self, context: Context) -> None:
        self._context = context

    async def text(self, conversation_id: str, name: DocumentName) -> str:
        """Markdown in which nothing that was said can close the fence or the fold it stands in.

        `context.md` is what the model sees, word for word; `transcript.md` the current path from its root,
        with long results shortened. Raises UnknownConversationError.
        """
        return await asyncio.to_thread(self._text, conversation_id, name)

    def _text(self, conversation_id: str, name: DocumentName) -> str:
        store = self._context.stores.of_conversation(conversation_id)
        settings = self._context.settings.of(store.conversation(conversation_id).workspace_uri)
        path = read_path(store, conversation_id, settings)
        return _context_text(path) if name == "context.md" else _transcript(path)


def _transcript(path: Path) -> str:
    record = path.conversation
    heading = title(record.name or "Conversation", [("Begun", record.created_at)])
    return heading + _newest(_said_newest_first(path))


def _said_newest_first(path: Path) -> Iterator[str]:
    if path.end is None:
        return
    for piece in path.pieces(0, path.end.depth, newest_first=True):
        yield from (entry_text(entry) for entry in reversed(piece))


def _context_text(path: Path) -> str:
    tokens, _ = context_tokens(path, Counter(path.settings))
    facts = [("Tokens", f"{tokens:,}"), ("Window", f"{path.settings.model.context_window:,}")]
    view = view_of(path.entries(), path.compaction_entry(), path.settings.context.summary_role, path.pinned())
    said = (message_text(item.message, whole=True) for item in reversed(view))
    return title("What the model sees", facts) + _newest(said)


def _newest(texts: Iterable[str]) -> str:
    """The newest of `texts`, which come newest first, in the order in which they were said."""
    kept: list[str] = []
    left = LONGEST_DOCUMENT
    for text in texts:
        left -= len(text)
        if left < 0:
            kept.append("*The beginning is left out here; export the conversation to read all of it.*")
            break
        if text:
            kept.append(text)
    return "".join(f"{text}\n\n" for text in reversed(kept)) or "*Nothing has been said yet.*\n"
