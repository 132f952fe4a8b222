"""JSON-RPC 2.0 in lines, as MCP's standard streams carry it."""

import json
import sys
import threading
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

PARSE_ERROR: Final = -32700  # JSON-RPC 2.0
INVALID_REQUEST: Final = -32600  # JSON-RPC 2.0
METHOD_NOT_FOUND: Final = -32601  # JSON-RPC 2.0
INVALID_PARAMS: Final = -32602  # JSON-RPC 2.0
UNSUPPORTED_VERSION: Final = -32022  # MCP 2026-07-28

MAX_LINE_BYTES: Final = 4 << 20
"""Of one message. A note has at most 4,000 characters, a question no more."""

Message = dict[str, Any]


class RpcError(Exception):
    """A request that is answered with an error. `code` is a number of JSON-RPC or MCP."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def error_reply(request_id: Any, error: RpcError) -> Message:
    """The answer to a request that failed; `request_id` is None where it could not be read."""
    body: Message = {"code": error.code, "message": str(error)}
    if error.data is not None:
        body["data"] = error.data
    return {"jsonrpc": "2.0", "id": request_id, "error": body}


def lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """The lines of `stream` until its end, without empty ones; None for each that is too long."""
    while line := stream.readline(MAX_LINE_BYTES + 1):
        if len(line) > MAX_LINE_BYTES:
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE_BYTES)
            yield None
        elif line.strip():
            yield line


def parsed(line: bytes | None) -> Message:
    """The message in a line. Raises RpcError for anything that is no single message."""
    if line is None:
        raise RpcError(INVALID_REQUEST, f"The message is longer than {MAX_LINE_BYTES:,} bytes.")
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise RpcError(PARSE_ERROR, "The line is not JSON.") from None
    if not isinstance(message, dict):
        raise RpcError(INVALID_REQUEST, "A message is one JSON object; batches are not part of MCP.")
    return message


class Output:
    """Writes messages, each as one line; threads may share it."""

    def __init__(self) -> None:
        self._stream = sys.stdout.buffer
        self._lock = threading.Lock()

    def send(self, message: Message) -> None:
        """Raises OSError when the client is gone."""
        # In ASCII: what a transcript holds, lone surrogates too, is then always valid.
        line = json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"
        with self._lock:
            self._stream.write(line)
            self._stream.flush()
