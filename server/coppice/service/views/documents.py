"""Conversations as documents that an editor shows read-only, made anew each time they are looked at."""

from collections.abc import Iterable
from typing import Final

from coppice.formats.markdown import entry_text, message_text, title
from coppice.protocol.documents import DocumentName
from coppice.service.core.context import Context
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.core.workers import run_read
from coppice.service.window.usage import Counter, context_tokens

LONGEST_DOCUMENT: Final = 2_000_000
"""Characters of a document. An editor is no place for more; the newest part is shown."""


class Documents:
    """The read-only documents of a conversation."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def text(self, conversation_id: str, name: DocumentName) -> str:
        """Markdown in which no message can close the fence or the fold that it is in.

        `context.md` is what the model sees, word for word; `transcript.md` the current path from its root,
        with long results shortened. Raises UnknownConversationError.
        """
        return await run_read(self._text, conversation_id, name)

    def _text(self, conversation_id: str, name: DocumentName) -> str:
        path = self._context.path(conversation_id)
        return _context_text(path) if name == "context.md" else _transcript(path)


def _transcript(path: ConversationPath) -> str:
    record = path.conversation
    heading = title(record.name or "Conversation", [("Begun", record.created_at)])
    return heading + _newest(entry_text(entry) for entry in path.newest_first())


def _context_text(path: ConversationPath) -> str:
    tokens, _ = context_tokens(path, Counter(path.settings))
    facts = [("Tokens", f"{tokens:,}"), ("Window", f"{path.settings.model.context_window:,}")]
    texts = (message_text(item.message, whole=True) for item in reversed(path.view()))
    return title("What the model sees", facts) + _newest(texts)


def _newest(texts: Iterable[str]) -> str:
    """The newest of `texts`, which come newest first, oldest first."""
    newest: list[str] = []
    left = LONGEST_DOCUMENT
    for text in texts:
        left -= len(text)
        if left < 0:
            newest.append("*The beginning is left out here; export the conversation to read all of it.*")
            break
        if text:
            newest.append(text)
    return "".join(f"{text}\n\n" for text in reversed(newest)) or "*The conversation is empty.*\n"
