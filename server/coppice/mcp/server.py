"""The MCP server: answers what needs no history at once, and has tools run in threads.

Revisions 2025-06-18 and 2025-11-25 begin with `initialize`; in 2026-07-28 each request names its revision and
`server/discover` replaces the handshake. One process serves either.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final

from coppice import __version__
from coppice.mcp.catalogue import INSTRUCTIONS, NAMES, TOOLS
from coppice.mcp.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
    Message,
    Output,
    RpcError,
    error_reply,
    lines,
    parsed,
)
from coppice.mcp.options import Options

HANDSHAKE_VERSIONS: Final = ("2025-06-18", "2025-11-25")
STATELESS_VERSION: Final = "2026-07-28"
VERSIONS: Final = (*HANDSHAKE_VERSIONS, STATELESS_VERSION)

_META: Final = "io.modelcontextprotocol/"
_THREADS: Final = 4  # calls that run at once: a model makes a few in one reply
_CACHE_MS: Final = 3_600_000  # milliseconds that a client may keep the list of tools: it never changes

_NAME_CHARS: Final = 80  # characters of a client's name, which is shown in a list

_INFO: Final = {"name": "coppice", "title": "Coppice", "version": __version__}
_CAPABILITIES: Final[Message] = {"tools": {}}


class Server:
    """Answers the messages of one client."""

    def __init__(self, options: Options, output: Output) -> None:
        self._options = options
        self._output = output
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._tools: Any = None
        self._waiting: set[Any] = set()
        self._client = "agent"

    def receive(self, line: bytes | None) -> None:
        """Answer one line, or have a thread answer it. Raises OSError when the client is gone."""
        request_id = None
        try:
            message = parsed(line)
            request_id = _id_of(message)
            if "method" not in message and ("result" in message or "error" in message):
                return  # An answer; this server asks nothing.
            method, params = _checked(message)
            if "id" not in message:
                self._notified(method, params)
                return
            stateless = _is_stateless(params)
            self._client = _client_of(params) or self._client
            if method == "tools/call":
                self._call(request_id, params, stateless=stateless)
                return
            result = _result_of(method, params)
            self._reply(request_id, result, stateless=stateless)
            if method == "tools/list":
                # The client has what it waits for; its first call shall not wait for the imports.
                self._start(self._history)
        except RpcError as error:
            self._output.send(error_reply(request_id, error))

    def finish(self) -> None:
        """Return when every call that came is answered."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _reply(self, request_id: Any, result: Message, *, stateless: bool) -> None:
        if stateless:
            result = {"resultType": "complete", **result, "_meta": {f"{_META}serverInfo": _INFO}}
        self._output.send({"jsonrpc": "2.0", "id": request_id, "result": result})

    def _notified(self, method: str, params: Message) -> None:
        if method == "notifications/cancelled":
            request_id = params.get("requestId")
            if isinstance(request_id, str | int):
                self._waiting.discard(request_id)

    def _call(self, request_id: Any, params: Message, *, stateless: bool) -> None:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or name not in NAMES:
            raise RpcError(INVALID_PARAMS, f"There is no such tool. Tools: {', '.join(sorted(NAMES))}.")
        arguments = {} if arguments is None else arguments
        if not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "`arguments` must be an object.")
        self._waiting.add(request_id)
        author = self._options.agent or self._client

        def answer() -> None:
            if request_id not in self._waiting:
                return
            text, failed = self._history().call(name, arguments, author)
            if request_id in self._waiting:
                self._waiting.discard(request_id)
                result: Message = {"content": [{"type": "text", "text": text}], "isError": failed}
                self._reply(request_id, result, stateless=stateless)

        self._start(answer)

    def _history(self) -> Any:
        """What runs the tools, made once: its imports take longer than a client waits for the list."""
        with self._lock:
            if self._tools is None:
                from coppice.mcp.tools import HistoryTools  # noqa: PLC0415 - see above

                self._tools = HistoryTools(self._options)
            return self._tools

    def _start(self, job: Callable[[], Any]) -> None:
        self._jobs.put(job)
        if len(self._threads) < _THREADS:
            thread = threading.Thread(target=self._work, daemon=True)
            self._threads.append(thread)
            thread.start()

    def _work(self) -> None:
        while job := self._jobs.get():
            try:
                job()
            except OSError:
                os._exit(0)  # The client is gone, and nobody waits for what is left.


def serve(options: Options) -> int:
    """Serve the standard streams until the client closes them or stops the process. Returns 0."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    output = Output()
    # What a library prints must not stand between the messages.
    sys.stdout = sys.stderr
    server = Server(options, output)
    try:
        for line in lines(sys.stdin.buffer):
            server.receive(line)
        server.finish()
    except OSError:
        pass  # The client is gone.
    sys.stderr.flush()
    os._exit(0)  # Not after what still runs: what was acknowledged is on disk.


def _id_of(message: Message) -> Any:
    """The request's id, or None for a notification."""
    request_id = message.get("id")
    if "id" in message and (isinstance(request_id, bool) or not isinstance(request_id, str | int)):
        raise RpcError(INVALID_REQUEST, "`id` must be a string or an integer.")
    if message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, '`jsonrpc` must be "2.0".')
    return request_id


def _checked(message: Message) -> tuple[str, Message]:
    """The method and the parameters. Raises RpcError."""
    method, params = message.get("method"), message.get("params") or {}
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "`method` is missing.")
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "`params` must be an object.")
    return method, params


def _is_stateless(params: Message) -> bool:
    """Whether the request names its revision. Raises RpcError for one that is not served."""
    meta = params.get("_meta")
    version = meta.get(f"{_META}protocolVersion") if isinstance(meta, dict) else None
    if version is None:
        return False
    if version != STATELESS_VERSION:
        supported = {"supported": list(VERSIONS), "requested": str(version)[:40]}
        raise RpcError(UNSUPPORTED_VERSION, "This revision is not served in this way.", supported)
    return True


def _client_of(params: Message) -> str | None:
    """What the client calls itself, where a request says so: in `initialize`, or in its `_meta`."""
    meta = params.get("_meta")
    info = meta.get(f"{_META}clientInfo") if isinstance(meta, dict) else params.get("clientInfo")
    name = info.get("name") if isinstance(info, dict) else None
    return name[:_NAME_CHARS] if isinstance(name, str) else None


def _result_of(method: str, params: Message) -> Message:
    """The answer to everything but a call of a tool."""
    cached: Message = {"ttlMs": _CACHE_MS, "cacheScope": "public"} if _is_stateless(params) else {}
    match method:
        case "initialize":
            asked = params.get("protocolVersion")
            version = asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
            return {
                "protocolVersion": version,
                "capabilities": _CAPABILITIES,
                "serverInfo": _INFO,
                "instructions": INSTRUCTIONS,
            }
        case "server/discover":
            discovered = {
                "supportedVersions": list(VERSIONS),
                "capabilities": _CAPABILITIES,
                "instructions": INSTRUCTIONS,
            }
            return {"ttlMs": _CACHE_MS, "cacheScope": "public", "resultType": "complete", **discovered}
        case "tools/list":
            return {"tools": list(TOOLS), **cached}
        case "ping":
            return {}
        case _:
            raise RpcError(METHOD_NOT_FOUND, "There is no such method here.")
