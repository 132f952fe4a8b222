"""`workspace/textDocumentContent`: conversations as read-only documents, refreshed when they change."""

import asyncio
from typing import Any, Final

from lsprotocol import types

from coppice.lsp.errors import WireError
from coppice.lsp.server import CoppiceServer
from coppice.lsp.values import text_at
from coppice.protocol.base import WireModel
from coppice.protocol.documents import SCHEME, document_of_uri
from coppice.protocol.notifications import ConversationChanged

CONTENT: Final = types.TextDocumentContentOptions(schemes=[SCHEME])

MAX_SHOWN: Final = 64
"""Documents that are refreshed, the ones read last. More than an editor shows at a time."""

REFRESH_SECONDS: Final = 0.2
"""How long changes are collected before a document is refreshed. Changes are looked for every 0.25 s."""


class ShownDocuments:
    """The documents that a client has read and not closed, by URI."""

    def __init__(self, server: CoppiceServer) -> None:
        self._server = server
        self._shown: dict[str, str] = {}
        self._refreshing: set[str] = set()

    async def content(self, params: Any) -> types.TextDocumentContentResult:
        """The document's text. Raises WireError for a URI that names none, and CoppiceError."""
        uri = text_at(params, "uri")
        named = document_of_uri(uri) if uri is not None else None
        if uri is None or named is None:
            raise WireError(types.ErrorCodes.InvalidParams, "The server has no such document.")
        await self._server.ready()
        text = await self._server.service.documents.text(*named)
        self._shown.pop(uri, None)
        self._shown[uri] = named[0]
        if len(self._shown) > MAX_SHOWN:
            del self._shown[next(iter(self._shown))]
        return types.TextDocumentContentResult(text=text)

    def closed(self, params: Any) -> None:
        """Forget the document: the client has closed it."""
        self._shown.pop(text_at(params, "textDocument", "uri") or "", None)

    def refresh_changed(self, params: WireModel) -> None:
        """Ask the client to read again the documents that a notification reports as changed."""
        if not isinstance(params, ConversationChanged) or not self._server.client.refreshes_documents:
            return
        for uri, conversation_id in self._shown.items():
            if conversation_id == params.conversation_id and uri not in self._refreshing:
                self._refreshing.add(uri)
                self._server.spawn(self._refresh(uri))

    async def _refresh(self, uri: str) -> None:
        await asyncio.sleep(REFRESH_SECONDS)
        self._refreshing.discard(uri)
        try:
            await self._server.protocol.ask(
                types.WORKSPACE_TEXT_DOCUMENT_CONTENT_REFRESH, types.TextDocumentContentRefreshParams(uri=uri)
            )
        except WireError:
            self._shown.pop(uri, None)
