"""A way to a PostgreSQL server that can be cut: a socket of its own, which passes bytes on."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

_CHUNK: Final = 65_536  # bytes


class CuttingProxy:
    """Listens in `folder` as libpq looks for a server; `cut` ends every connection."""

    def __init__(self, server: Path, port: int, folder: Path) -> None:
        self._server = str(server / f".s.PGSQL.{port}")
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / f".s.PGSQL.{port}"))
        self._listening.listen()
        self._lock = threading.Lock()
        self._ends: set[socket.socket] = set()
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        with self._lock:
            ends, self._ends = self._ends, set()
        self.cuts += bool(ends)
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                with self._lock:
                    self._ends |= {client, server}
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK):
                target.sendall(data)
        with self._lock:
            self._ends -= {source}
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)
        source.close()


@contextmanager
def cutting(server: Path, port: int, folder: Path) -> Iterator[CuttingProxy]:
    proxy = CuttingProxy(server, port, folder)
    try:
        yield proxy
    finally:
        proxy.close()


def through(url: str, server: Path, folder: Path) -> str:
    """The URL of the server by way of the proxy in `folder`."""
    assert quote(str(server)) in url
    return url.replace(quote(str(server)), quote(str(folder)))
