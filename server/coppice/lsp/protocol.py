"""The boundary: raw JSON values in, one answer for every request out.

Stock pygls structures a message while it parses it and leaves some requests without an answer. Here a
message stays the value that was sent until its envelope has been judged and its method found.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from uuid import uuid4

import attrs
from lsprotocol import types
from lsprotocol.types import ErrorCodes, LSPErrorCodes
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from coppice.errors import TooManyRequestsError
from coppice.json_values import at, text_at
from coppice.lsp import codec, envelope, errors
from coppice.lsp.envelope import RequestId
from coppice.lsp.errors import WireError
from coppice.lsp.framing import frame
from coppice.lsp.in_work import RequestsInWork

RequestHandler = Callable[[Any], Awaitable[Any]]
NotificationHandler = Callable[[Any], None]


async def _at_once() -> None:
    """Drain nothing: no connection is set."""


class CoppiceProtocol(LanguageServerProtocol):
    """JSON-RPC as `docs/protocol.md` describes it, over whatever `transmit` writes to.

    Handlers are in `requests` (each runs in a task of its own) and `notifications` (each runs at once,
    so that their order is kept). They get the params as sent, `{}` where there are none; a request
    handler raises `WireError`, `ParamsError` or `CoppiceError`, or is cancelled.
    """

    def __init__(self, server: LanguageServer, converter: Any) -> None:
        super().__init__(server, converter)
        self.requests: dict[str, RequestHandler] = {}
        self.notifications: dict[str, NotificationHandler] = {
            types.CANCEL_REQUEST: self._cancel_request,
            types.EXIT: self._exit,
        }
        self.transmit: Callable[[bytes], None] = lambda _: None
        self.drain: Callable[[], Awaitable[None]] = _at_once
        self.on_initialize: Callable[[Any], Any] = lambda _: None
        self.exited = asyncio.Event()
        self._initialized = False
        self._silent = False
        self.in_work = RequestsInWork()
        self._asked: dict[RequestId, asyncio.Future[Any]] = {}

    @property
    def shut_down(self) -> bool:
        """Whether the client has sent `shutdown`, which makes a later end an orderly one."""
        return self._shutdown

    async def ready_to_read(self) -> None:
        """Wait while too much waits to be written or to be answered.

        A client that asks and does not read is not read from either.
        """
        await self.drain()
        await self.in_work.wait_for_room()

    def receive(self, body: bytes) -> None:
        """Take one message as it came. Never raises."""
        try:
            message = codec.decode(body)
        except codec.NotJSONError as error:
            self._answer_error(None, WireError(ErrorCodes.ParseError, f"Not JSON: {error}."))
        except codec.TooDeepError as error:
            self._refuse(envelope.valid_id(error.request_id), str(error))
        else:
            self.handle_message(message, len(body))

    def handle_message(self, message: Any, length: int = 0) -> None:
        """Take one message, as the JSON value that was sent in `length` bytes. Never raises."""
        match envelope.judge(message):
            case envelope.Request() as request:
                self._take_request(request, length)
            case envelope.Notification() as notification:
                self._take_notification(notification)
            case envelope.Response() as response:
                self._take_response(response)
            case envelope.Invalid(request_id, reason):
                self._refuse(request_id, reason)

    def notify(self, method: str, params: Any | None = None) -> None:
        """Send a notification; nothing before `initialize` and nothing after `shutdown` is answered."""
        if self._initialized and not self._silent:
            self._send({"method": method, "params": params}, method)

    async def ask(self, method: str, params: Any) -> Any:
        """The client's result as it sent it. Raises `WireError` with the client's words when it refuses."""
        request_id = str(uuid4())
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[request_id] = answered
        try:
            self._send({"id": request_id, "method": method, "params": params}, method)
            return await answered
        except asyncio.CancelledError:
            self.notify(types.CANCEL_REQUEST, {"id": request_id})
            raise
        finally:
            self._asked.pop(request_id, None)

    def structured(self, params: Any, params_type: type[Any]) -> Any:
        """Params of a standard method as lsprotocol has them; a `WireError` when they do not fit."""
        try:
            return self._converter.structure(params, params_type)
        except Exception:  # noqa: BLE001 - cattrs lets through whatever its hooks raise
            raise WireError(ErrorCodes.InvalidParams, f"The params are no {params_type.__name__}.") from None

    def refuse_stream(self, reason: str) -> None:
        """Report to the client why the connection ends."""
        self._answer_error(None, WireError(ErrorCodes.ParseError, f"The connection ends: {reason}."))

    def _take_request(self, request: envelope.Request, length: int) -> None:
        if request.id in self.in_work.tasks:
            self._refuse(request.id, "a request with this id is still being worked on")
            return
        try:
            if request.method == types.INITIALIZE:
                self._initialize(request)
                return
            handler = self._handler_of(request.method)
        except Exception as error:  # noqa: BLE001 - every request is answered
            self._answer_error(request.id, error, request.method)
            return
        task = asyncio.ensure_future(handler(request.params))
        token = envelope.valid_id(at(request.params, "workDoneToken"))
        self.in_work.add(request.id, task, length, token)
        task.add_done_callback(partial(self._answer, request))

    def _initialize(self, request: envelope.Request) -> None:
        """Answered before anything else can be sent."""
        if self._shutdown or self._initialized:
            raise WireError(ErrorCodes.InvalidRequest, "The server has been initialized already.")
        result = self.on_initialize(request.params)
        self._send({"id": request.id, "result": result}, request.method)
        self._initialized = True

    def _handler_of(self, method: str) -> RequestHandler:
        if not self._initialized:
            raise WireError(ErrorCodes.ServerNotInitialized, "The server has not been initialized yet.")
        if self._shutdown:
            raise WireError(ErrorCodes.InvalidRequest, "The server has been shut down.")
        if method == types.SHUTDOWN:
            self._shutdown = True
        elif self.in_work.is_full:
            raise TooManyRequestsError(
                f"{len(self.in_work.tasks):,} requests wait for their answers. Send this one again later."
            )
        handler = self.requests.get(method)
        if handler is None:
            raise WireError(ErrorCodes.MethodNotFound, "The server has no such method.")
        return handler

    def _answer(self, request: envelope.Request, task: asyncio.Future[Any]) -> None:
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is not None:
            self._answer_error(request.id, error, request.method)
        else:
            self._send({"id": request.id, "result": task.result()}, request.method)
        if request.method == types.SHUTDOWN:
            self._silent = True

    def _take_notification(self, notification: envelope.Notification) -> None:
        alive = self._initialized and not self._shutdown
        handler = self.notifications.get(notification.method)
        if handler is None or not (alive or notification.method == types.EXIT):
            return
        try:
            handler(notification.params)
        except WireError:
            errors.log_unusable(notification.method)
        except Exception as error:  # noqa: BLE001 - a notification must not end the connection
            errors.log_unforeseen(error, notification.method)

    def _take_response(self, response: envelope.Response) -> None:
        answered = self._asked.pop(response.id, None) if response.id is not None else None
        if answered is None or answered.done():
            return
        if response.error is None:
            answered.set_result(response.result)
        else:
            answered.set_exception(WireError(LSPErrorCodes.RequestFailed, _message_of(response.error)))

    def _cancel_request(self, params: Any) -> None:
        request_id = envelope.valid_id(at(params, "id"))
        task = self.in_work.tasks.get(request_id) if request_id is not None else None
        if task is not None:
            task.cancel()

    def _exit(self, params: Any) -> None:
        del params
        self.exited.set()

    def _refuse(self, request_id: RequestId | None, reason: str) -> None:
        self._answer_error(request_id, WireError(ErrorCodes.InvalidRequest, f"Invalid request: {reason}."))

    def _answer_error(self, request_id: RequestId | None, error: BaseException, method: str = "") -> None:
        self._send({"id": request_id, "error": errors.to_response_error(error, method)}, method)

    def _send(self, message: dict[str, Any], method: str) -> None:
        try:
            body = codec.encode({"jsonrpc": self.VERSION, **message}, self._serialize_message)
        except Exception as error:  # noqa: BLE001 - what cannot be written is answered all the same
            if "method" in message:
                errors.log_unforeseen(error, method)
                return
            failure = errors.to_response_error(error, method)
            plain: dict[str, Any] = {"code": failure.code, "message": failure.message}
            plain |= {"data": failure.data} if failure.data is not None else {}
            body = codec.encode({"jsonrpc": self.VERSION, "id": message["id"], "error": plain}, str)
        self.transmit(frame(body))

    def _serialize_message(self, data: Any) -> Any:
        if attrs.has(type(data)):
            return self._converter.unstructure(data)
        raise TypeError(f"{type(data).__qualname__} is no JSON value")


def _message_of(error: Any) -> str:
    """The message of a client's error."""
    message = text_at(error, "message")
    return message if message and message.strip() else "The client refused."
