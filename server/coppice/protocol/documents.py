"""The URIs of the read-only documents that `workspace/textDocumentContent` serves."""

from typing import Final, Literal
from urllib.parse import unquote, urlsplit

SCHEME: Final = "coppice"

DocumentName = Literal["context.md", "transcript.md"]
_NAMES: Final[dict[str, DocumentName]] = {"context.md": "context.md", "transcript.md": "transcript.md"}


def document_of_uri(uri: str) -> tuple[str, DocumentName] | None:
    """The conversation and the document that `coppice:/<conversationId>/<name>` names, or None."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    conversation_id, _, name = unquote(parts.path).strip("/").rpartition("/")
    if parts.scheme != SCHEME or parts.netloc or not conversation_id or name not in _NAMES:
        return None
    return conversation_id, _NAMES[name]
