"""Reading one large `coppice/append` off the wire, compared with stock pygls on the same bytes.

Run: python tests/benchmarks/wire_reading.py
"""

import json
import statistics
import time
from collections.abc import Callable

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from coppice.lsp import codec, envelope
from coppice.protocol.trees import AppendParams

ROUNDS = 7


def body_of(megabytes: float) -> bytes:
    """A request that appends turns with tool calls until it is `megabytes` long."""
    entries: list[dict[str, object]] = []
    size = 0
    while size < megabytes * 1_000_000:
        number = len(entries)
        arguments = {"path": f"src/part_{number}.py", "edits": [{"old": "a" * 80, "new": "b" * 80}] * 3}
        call = {"type": "toolCall", "id": f"c{number}", "name": "edit", "arguments": arguments}
        message = {"role": "assistant", "content": [{"type": "text", "text": "word " * 60}, call]}
        entries.append({"type": "message", "message": message})
        size += len(json.dumps(entries[-1]))
    params = {"conversationId": "c", "entries": entries}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "coppice/append", "params": params}).encode()


def ours(body: bytes) -> None:
    request = envelope.judge(codec.decode(body))
    assert isinstance(request, envelope.Request)


def ours_validated(body: bytes) -> None:
    request = envelope.judge(codec.decode(body))
    assert isinstance(request, envelope.Request)
    AppendParams.model_validate(request.params)


def milliseconds(read: Callable[[bytes], object], body: bytes) -> float:
    took = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        read(body)
        took.append(time.perf_counter() - started)
    return statistics.median(took) * 1000


def main() -> None:
    stock = LanguageServer("stock", "1", types.TextDocumentSyncKind.None_).protocol

    def by_stock(body: bytes) -> None:
        json.loads(body, object_hook=stock.structure_message)

    print("size MB | stock pygls ms | ours ms | ours validated ms | stock / ours")
    for megabytes in (0.1, 1, 5):
        body = body_of(megabytes)
        theirs, raw, validated = (milliseconds(read, body) for read in (by_stock, ours, ours_validated))
        print(f"{megabytes:7} | {theirs:14.1f} | {raw:7.1f} | {validated:17.1f} | {theirs / raw:12.1f}")


if __name__ == "__main__":
    main()
