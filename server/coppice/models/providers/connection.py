"""HTTP to one address, with everything that can go wrong there as a ModelError."""

import asyncio
import json
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from typing import Any, Final

import httpx

from coppice.models.chat import ModelError
from coppice.models.providers.address import Address
from coppice.models.providers.answer_fault import AnswerFaultError
from coppice.models.providers.deadlines import Deadlines
from coppice.models.providers.events import LARGEST_EVENT, read_at_most
from coppice.models.providers.failures import Endpoint

_CERTIFICATES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_UNREADABLE: Final = (
    "was not asked: the certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be read. Correct or "
    "unset the variable, and start the server again."
)


class Connection:
    """Connections to one provider, opened when first needed and kept for the requests that follow.

    Redirects are not followed: the request carries a key. Proxies and certificates come from the
    environment (`HTTPS_PROXY`, `NO_PROXY`, `SSL_CERT_FILE`), as users of a proxy expect; for this machine's
    own addresses it is ignored, or a proxy would read what is never to leave the machine.
    """

    def __init__(self, address: Address, endpoint: Endpoint, deadlines: Deadlines) -> None:
        self._address = address
        self._endpoint = endpoint
        self._deadlines = deadlines
        self._client: httpx.AsyncClient | None = None

    @asynccontextmanager
    async def post(
        self, path: str, body: dict[str, Any], headers: Mapping[str, str]
    ) -> AsyncIterator[httpx.Response]:
        """The response, whatever its status. Raises ModelError, also for what fails while it is read.

        `network` means that nothing of an answer came; the request may be made again.
        """
        # Half of a surrogate pair, from a text that was cut badly, is no UTF-8: it goes as a question mark.
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        sent = {
            "content-type": "application/json",
            "accept": "text/event-stream, application/json",
            **headers,
        }
        answered = False
        try:
            url = f"{self._address.base}{path}"
            async with AsyncExitStack() as open_stream:
                stream = self._opened().stream("POST", url, content=content, headers=sent)
                response = await self._begun(open_stream.enter_async_context(stream))
                answered = True
                yield response
        except httpx.TimeoutException as error:
            raise self._too_slow(error, answered) from None
        except httpx.TransportError as error:
            raise self._lost(error, answered) from None

    async def get_json(self, url: str, headers: Mapping[str, str]) -> Any:
        """The JSON at `url`, or None: for whatever is not there, is too large, or is no JSON."""
        try:
            async with self._opened().stream("GET", url, headers=dict(headers)) as response:
                if response.status_code != HTTPStatus.OK:
                    return None
                body = await read_at_most(response, LARGEST_EVENT)
            return json.loads(body) if len(body) <= LARGEST_EVENT else None
        except (httpx.HTTPError, AnswerFaultError, ModelError, ValueError, RecursionError):
            return None

    async def close(self) -> None:
        """Close the pooled connections. The next request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _begun(self, opening: Awaitable[httpx.Response]) -> httpx.Response:
        """The response. An interim one, 100 Continue for instance, ends a silence and is none."""
        try:
            async with asyncio.timeout(self._deadlines.connect + self._deadlines.silence):
                return await opening
        except TimeoutError:
            raise self._too_slow(None, answered=False) from None

    def _opened(self) -> httpx.AsyncClient:
        if self._client is None:
            waits = self._deadlines
            try:
                self._client = httpx.AsyncClient(
                    timeout=httpx.Timeout(waits.silence, connect=waits.connect, pool=waits.connect),
                    follow_redirects=False,
                    trust_env=not self._address.is_loopback,
                    # Compression would hold back pieces of the stream. Some proxies compress all the same.
                    headers={"accept-encoding": "identity", "user-agent": "coppice"},
                )
            except (ssl.SSLError, FileNotFoundError, PermissionError) as error:
                if not self._address.is_loopback and any(map(os.environ.get, _CERTIFICATES)):
                    raise self._endpoint.failed("not-found", _UNREADABLE) from None
                # Without memory OpenSSL says that it has no ciphers, or that the error is unknown.
                raise MemoryError from error
        return self._client

    def _too_slow(self, error: httpx.TimeoutException | None, answered: bool) -> ModelError:  # noqa: FBT001 - private
        waits = self._deadlines
        if isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout):
            what = f"could not be reached within {waits.connect:g} s. Check baseUrl and the network."
        elif answered:
            what = f"fell silent for {waits.silence:g} s in the middle of the answer. Try again."
        else:
            what = f"did not begin to answer within {waits.silence:g} s. Try again, or choose another model."
        return self._endpoint.failed("timeout", what)

    def _lost(self, error: httpx.TransportError, answered: bool) -> ModelError:  # noqa: FBT001 - private
        if answered:
            what = "broke off in the middle of the answer. Try again."
            return self._endpoint.failed("cut-off", what)
        reached = not isinstance(error, httpx.ConnectError | httpx.ProxyError)
        what = (
            "closed the connection without an answer. Try again."
            if reached
            else "could not be reached. Check that the server runs, baseUrl, and the network."
        )
        return self._endpoint.failed("network", what)


async def read_json(response: httpx.Response) -> Any:
    """An answer in one piece. Raises AnswerFaultError when it is too large or no JSON."""
    body = await read_at_most(response, LARGEST_EVENT)
    if len(body) > LARGEST_EVENT:
        raise AnswerFaultError("bad-answer", "sent an answer that is too large; it was stopped.")
    if not body.strip():
        raise AnswerFaultError("bad-answer", "sent an empty answer. Try again.")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise AnswerFaultError("bad-answer", "sent something that is no JSON. Check baseUrl.") from None
