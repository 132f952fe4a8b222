"""A client that sends any bytes, over the pipes of a real server process."""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from waiting import PATIENCE

ABSENT: Any = object()


def environment(directory: Path) -> dict[str, str]:
    """An environment in which a server keeps everything below `directory`."""
    others = {key: value for key, value in os.environ.items() if not key.startswith("COPPICE_")}
    return others | {
        "COPPICE_STORAGE_DIRECTORY": str(directory / "store"),
        "COPPICE_CONFIG_DIRECTORY": str(directory / "config"),
    }


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class RawServer:
    """A server process, run by the command `python` with `variables` in its environment.

    Messages of its output are kept in order until they are asked for.
    """

    def __init__(
        self,
        directory: Path,
        command: Sequence[str] = ("-m", "coppice.lsp"),
        *,
        python: Sequence[str] = (sys.executable,),
        cwd: Path | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.process = subprocess.Popen(
            [*python, *command],
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(directory) | dict(variables or {}),
        )
        self.stderr = b""
        self.seen: list[dict[str, Any]] = []
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._count = 0
        self._threads = [
            threading.Thread(target=self._read_messages, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.end()

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Any) -> None:
        self.send_bytes(framed(json.dumps(message).encode()))

    def notify(self, method: str, params: Any = ABSENT) -> None:
        self.send(_call(method, params))

    def start_request(self, method: str, params: Any = ABSENT) -> int:
        self._count += 1
        self.send({"id": self._count, **_call(method, params)})
        return self._count

    def request(self, method: str, params: Any = ABSENT) -> dict[str, Any]:
        """The whole answer, result or error."""
        return self.answer(self.start_request(method, params))

    def result(self, method: str, params: Any = ABSENT) -> Any:
        answer = self.request(method, params)
        assert "error" not in answer, answer
        return answer["result"]

    def answer(self, request_id: object) -> dict[str, Any]:
        """The answer to `request_id`, of the messages seen already or yet to come."""
        return self._first(
            lambda message: "method" not in message and message.get("id", ABSENT) == request_id
        )

    def notification(self, method: str) -> dict[str, Any]:
        """The params of the first message called `method`, of those seen already or yet to come."""
        return dict(self._first(lambda message: message.get("method") == method)["params"])

    def _first(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        for index, message in enumerate(self.seen):
            if fits(message):
                return self.seen.pop(index)
        while not fits(message := self.receive()):
            self.seen.append(message)
        return message

    def receive(self, timeout: float = PATIENCE) -> dict[str, Any]:
        """The next message. Raises EOFError at the end of the output and `queue.Empty` when none comes."""
        message = self._messages.get(timeout=timeout)
        if message is None:
            self._messages.put(None)
            raise EOFError(self.stderr.decode(errors="replace"))
        return message

    def rest(self) -> list[dict[str, Any]]:
        """Every message up to the end of the output."""
        messages = []
        while True:
            try:
                messages.append(self.receive())
            except EOFError:
                return messages

    def initialize(self, params: Any = ABSENT) -> dict[str, Any]:
        result: dict[str, Any] = self.result("initialize", {} if params is ABSENT else params)
        self.notify("initialized", {})
        return result

    def end(self) -> int:
        """Close the server's input and wait; the exit code."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return code

    def _read_messages(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            name, _, value = header.partition(b":")
            assert name == b"Content-Length", header
            assert stream.readline() == b"\r\n"
            self._messages.put(json.loads(stream.read(int(value)), parse_constant=_refused))
        self._messages.put(None)

    def _read_stderr(self) -> None:
        stream = self.process.stderr
        assert stream is not None
        while line := stream.readline():
            self.stderr += line


def _call(method: str, params: Any) -> dict[str, Any]:
    call = {"jsonrpc": "2.0", "method": method}
    return call if params is ABSENT else {**call, "params": params}


def _refused(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")
