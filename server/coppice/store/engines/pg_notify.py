"""Receives the notifications of a PostgreSQL server that a store was changed."""

import threading
import time
from typing import Any, Final

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

CHANNEL: Final = "coppice_change"
_RETRY_SECONDS: Final = 1.0  # seconds between two attempts to listen (guess)


class Listener:
    """A connection of its own that is looked at now and then, without asking the server anything."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._connection: Any = None
        self._next_try = 0.0
        self._closed = False

    def poll(self) -> bool:
        """Whether a change was announced since the last call, or an announcement may have been missed."""
        with self._lock:
            if self._closed:
                return False
            if self._connection is None:
                self._listen()
                return True
            try:
                server = self._connection.pgconn
                server.consume_input()
                notified = False
                while server.notifies() is not None:
                    notified = True
            except self._engine.dialect.loaded_dbapi.Error:
                self._hang_up()
                return True
            return notified

    def close(self) -> None:
        """Ends the listening connection; later polls report no change."""
        with self._lock:
            self._closed = True
            self._hang_up()

    def _listen(self) -> None:
        if time.monotonic() < self._next_try:
            return
        self._next_try = time.monotonic() + _RETRY_SECONDS
        try:
            taken = self._engine.raw_connection()
            connection: Any = taken.driver_connection
            taken.detach()
        except (SQLAlchemyError, self._engine.dialect.loaded_dbapi.Error):
            # The next read of the store raises the error.
            return
        try:
            connection.autocommit = True
            connection.execute(f"LISTEN {CHANNEL}")
        except self._engine.dialect.loaded_dbapi.Error:
            connection.close()
        else:
            self._connection = connection

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
