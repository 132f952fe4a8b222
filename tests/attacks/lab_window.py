"""A server process of the fault laboratory, and its client: what it reads, answers and is notified of."""

import json
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lsp.forked_server import ForkedServer

PATIENCE = 120.0
"""Seconds until a request counts as not answered: longer than all the server's limits on a busy machine."""
TURN = "turn"
TOOL: dict[str, Any] = {"name": "read", "description": "Reads a file.", "inputSchema": {"type": "object"}}


class Window(ForkedServer):
    """A server whose output is not read while `reading` is clear.

    It runs the tools of its server's turns. `announced` are the entries that turns announced as stored.
    """

    def __init__(
        self, directory: Path, command: Sequence[str], variables: dict[str, str], *, is_forked: bool
    ) -> None:
        self.reading = threading.Event()
        self.reading.set()
        self.announced: list[str] = []
        super().__init__(
            directory, command, python=None if is_forked else (sys.executable,), variables=variables
        )

    def receive(self, timeout: float = PATIENCE) -> dict[str, Any]:
        return super().receive(timeout)

    def _read_messages(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            self.reading.wait(30)
            assert stream.readline() == b"\r\n"
            self._take(json.loads(stream.read(int(header.partition(b":")[2]))))
        self._messages.put(None)

    def _take(self, message: dict[str, Any]) -> None:
        match message:
            case {"method": "coppice/invokeTool", "id": request_id}:
                content = [{"type": "text", "text": "The file is empty. " * 100}]
                self.send({"jsonrpc": "2.0", "id": request_id, "result": {"content": content}})
            case {"method": "$/progress", "params": {"token": token, "value": {"kind": "message", **value}}}:
                assert token == TURN
                self.announced.append(str(value["entryId"]))
            case {"method": _}:
                pass
            case _:
                self._messages.put(message)
