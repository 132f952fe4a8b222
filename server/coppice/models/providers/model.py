"""A chat model that is reached over HTTP."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from http import HTTPStatus
from typing import Any, Final

import httpx

from coppice.models.chat import DEFAULT_WINDOW, ChatRequest, ModelError, ModelLimits, OnDelta
from coppice.models.providers.answer import AnswerBuilder
from coppice.models.providers.answer_fault import AnswerFaultError, NothingStreamedError
from coppice.models.providers.connection import Connection, read_json
from coppice.models.providers.deadlines import Deadlines, Retries
from coppice.models.providers.dialect import AnswerReader, Dialect
from coppice.models.providers.error_response import ErrorResponse, read_error_response
from coppice.models.providers.events import data_events, decoded
from coppice.models.providers.failures import Endpoint, RefusedInStreamError
from coppice.models.providers.keys import KeySource
from coppice.models.providers.windows import ServerLimits, served_limits
from coppice.recovery.overflow import reported_window
from coppice.tree.messages import AssistantMessage

_WORTH_ANOTHER_TRY: Final = frozenset({"rate-limit", "server", "network"})
_ASK_AGAIN_AFTER: Final = 60.0
"""Seconds after which a server that reported no limits is asked again: another model may be loaded."""


class HttpChatModel:
    """See `coppice.models.chat.ChatModel`. `context_window` and `max_output_tokens` are the settings'."""

    def __init__(
        self,
        dialect: Dialect,
        keys: KeySource,
        *,
        context_window: int | None,
        max_output_tokens: int | None,
        deadlines: Deadlines | None,
        retries: Retries | None,
        overflow_phrases: Sequence[str],
    ) -> None:
        self._dialect = dialect
        self._keys = keys
        self._endpoint = Endpoint(self.name, keys, tuple(overflow_phrases))
        self._set_window = context_window
        self._set_output = max_output_tokens
        self._deadlines = deadlines or Deadlines()
        self._retries = retries or Retries()
        self._connection = Connection(keys.address, self._endpoint, self._deadlines)
        self._served: ServerLimits | None = None
        self._asked_at: float | None = None
        self._asking = asyncio.Lock()
        self._reported_window: int | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} at {self._keys.address.origin}>"

    @property
    def name(self) -> str:
        """Provider and model, `openai/gpt-4o-mini` for instance."""
        return f"{self._dialect.provider}/{self._dialect.model}"

    @property
    def edits_context(self) -> bool:
        """See `Dialect.edits_context`."""
        return self._dialect.edits_context

    async def close(self) -> None:
        """Close its connections."""
        await self._connection.close()

    async def limits(self) -> ModelLimits:
        """The settings', else the server's, else a default; never more than an overflow error has named."""
        served = None if self._set_window else await self._asked()
        output = self._set_output or (served.max_output_tokens if served else None)
        if self._set_window:
            limits = ModelLimits(self._set_window, output, "settings")
        elif served:
            limits = ModelLimits(served.context_window, output, "server")
        else:
            limits = ModelLimits(DEFAULT_WINDOW, output, "default")
        if self._reported_window and self._reported_window < limits.context_window:
            return ModelLimits(self._reported_window, output, "server")
        return limits

    async def complete(self, request: ChatRequest, on_delta: OnDelta | None = None) -> AssistantMessage:
        """Ask, with retries, within the total deadline. Raises ModelError."""
        try:
            async with asyncio.timeout(self._deadlines.total):
                return await self._with_retries(request, on_delta)
        except TimeoutError:
            what = (
                f"did not finish within {self._deadlines.total:g} s. Ask for less, or choose another model."
            )
            error = self._endpoint.failed("timeout", what)
        except ModelError as failure:
            error = failure
        # What failed underneath holds the request, and the request its key: it is not handed on.
        error.__cause__ = error.__context__ = None
        raise error

    async def _with_retries(self, request: ChatRequest, on_delta: OnDelta | None) -> AssistantMessage:
        """The answer; a stream with nothing in it is asked for again at once, in one piece.

        llama-cpp-python and others begin to answer before they look at the request, and can then send no
        error. Unstreamed they do.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + self._deadlines.total
        stream, attempt = True, 1
        while True:
            builder = AnswerBuilder(on_delta)
            try:
                return await self._try(request, builder, stream=stream)
            except NothingStreamedError:
                stream = False
                continue
            except ModelError as error:
                attempt += 1
                pause = self._retries.before(attempt, error.retry_after)
                if request.caller_waits or error.kind not in _WORTH_ANOTHER_TRY:
                    raise
                if builder.begun or pause is None:
                    raise
                if loop.time() + pause >= end:
                    raise
            await asyncio.sleep(pause)

    async def _try(self, request: ChatRequest, builder: AnswerBuilder, *, stream: bool) -> AssistantMessage:
        """One answer; asked again at once, and uncounted, when only the wording was refused.

        Raises ModelError, and NothingStreamedError for a stream with nothing in it.
        """
        most = self._set_output or (self._served.max_output_tokens if self._served else None)
        tokens = min(request.max_tokens, most or request.max_tokens)
        while True:
            body = self._dialect.body(request, tokens, stream=stream)
            try:
                answer = await self._exchange(self._dialect.path(stream=stream), body, builder)
            except AnswerFaultError as fault:
                if stream and isinstance(fault, NothingStreamedError):
                    raise
                raise self._endpoint.failed(fault.kind, fault.what) from None
            except RefusedInStreamError as refused:
                raise self._refused(refused.error_response) from None
            if isinstance(answer, AssistantMessage):
                return answer
            if not self._dialect.adapt(answer, body):
                raise self._refused(answer)

    async def _exchange(
        self, path: str, body: dict[str, Any], builder: AnswerBuilder
    ) -> AssistantMessage | ErrorResponse:
        headers = self._dialect.headers(self._keys.read(), body)
        async with self._connection.post(path, body, headers) as response:
            if response.status_code == HTTPStatus.OK:
                return await self._read(response, builder)
            return await read_error_response(response)

    def _refused(self, error_response: ErrorResponse) -> ModelError:
        error = self._endpoint.refused(error_response)
        if error.kind == "overflow":
            self._reported_window = (
                error_response.window or reported_window(error_response.message) or self._reported_window
            )
        return error

    async def _read(self, response: httpx.Response, builder: AnswerBuilder) -> AssistantMessage:
        reader = self._dialect.reader(builder)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "text/html":
            raise AnswerFaultError("bad-answer", "answered with a web page. Check baseUrl.")
        if kind == "application/json":
            reader.whole(await read_json(response))
        else:
            await self._read_events(response, reader)
        ending = reader.ending()
        usage: dict[str, Any] = {} if ending.usage is None else {"usage": ending.usage}
        return AssistantMessage(
            content=builder.content(complete=ending.stop_reason != "length"),
            provider=self._dialect.provider,
            model=ending.model or self._dialect.model,
            stop_reason=ending.stop_reason,
            **usage,
        )

    async def _read_events(self, response: httpx.Response, reader: AnswerReader) -> None:
        """All events. Once the answer is whole, only its usage is waited for, and not for long."""
        count = 0
        async with aclosing(data_events(decoded(response))) as events:
            while True:
                try:
                    async with asyncio.timeout(self._deadlines.trailer if reader.finished else None):
                        data = await anext(events, None)
                except (TimeoutError, httpx.TransportError) as error:
                    if reader.finished:
                        return
                    if count == 0 and not isinstance(error, httpx.TimeoutException):
                        raise NothingStreamedError from None
                    raise
                if data is None and count == 0:
                    raise NothingStreamedError
                count += 1
                if data is None or not reader.event(data):
                    return

    async def _asked(self) -> ServerLimits | None:
        """The limits that the server reports; it is asked again after a while when they were not certain."""
        loop = asyncio.get_running_loop()
        async with self._asking:
            recent = self._asked_at is not None and loop.time() - self._asked_at < _ASK_AGAIN_AFTER
            if recent or (self._served and self._served.is_certain):
                return self._served
            try:
                headers = self._dialect.headers(self._keys.read())
                async with asyncio.timeout(self._deadlines.limits):
                    self._served = await served_limits(
                        self._keys.address.base,
                        self._dialect.listing(),
                        self._dialect.model,
                        lambda url: self._connection.get_json(url, headers),
                        has_own_addresses=not self._keys.is_own_address,
                    )
            except (ModelError, TimeoutError):
                self._served = None
            self._asked_at = loop.time()
            return self._served
