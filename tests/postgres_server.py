"""A real PostgreSQL server that lives as long as the tests need it."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from requirements import missing

PASSWORD = "S3cret/pass:word@1"  # noqa: S105 - of a server that ends with the tests

_DEBIAN = Path("/usr/lib/postgresql")
_DROP = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'coppice'"
_CLEAR_AWAY = 'read -r _; "$0" -D "$1" -m immediate -w stop; rm -rf "$2"'
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "max_connections": "60",
    "log_min_messages": "fatal",
    "lc_messages": "C",
}


@dataclass
class PostgresServer:
    """`folder` holds the data, the socket and the log."""

    programs: Path
    folder: Path
    port: int

    def url(self, schema: str | None = None) -> str:
        """Through the socket, without a password; with `schema` in a schema of that name."""
        place = f"host={quote(str(self.folder))}&port={self.port}"
        search_path = "" if schema is None else f"&options={quote(f'-csearch_path={schema}')}"
        return f"postgresql+psycopg://coppice@/postgres?{place}{search_path}"

    def tcp_url(self, password: str = PASSWORD) -> str:
        """Through loopback, where a password is asked for."""
        return f"postgresql+psycopg://guarded:{quote(password, safe='')}@127.0.0.1:{self.port}/postgres"

    def execute(self, statement: str, *values: Any) -> list[Any]:
        import psycopg  # noqa: PLC0415 - where PostgreSQL is not installed, neither need its driver be

        place = f"host={self.folder} port={self.port} user=coppice dbname=postgres"
        with psycopg.connect(place, autocommit=True) as connection:
            cursor = connection.execute(statement, values)
            return list(cursor.fetchall()) if cursor.description else []

    def drop_connections(self) -> int:
        """Hangs up on everybody who uses a store; how many that were."""
        return len(self.execute(_DROP))

    def start(self) -> None:
        options = " ".join(f"-c {name}={value}" for name, value in _SETTINGS.items())
        address = f"-c listen_addresses=127.0.0.1 -p {self.port} -k {self.folder}"
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.data), "-l", log, "-o", f"{options} {address}", "-w", "start")

    def stop(self) -> None:
        """Without taking leave, as after a power cut."""
        self._run("pg_ctl", "-D", str(self.data), "-m", "immediate", "-w", "stop")

    def make(self) -> None:
        """An empty cluster: `coppice` comes in through the socket, `guarded` through loopback by password."""
        self._run("initdb", "-D", str(self.data), "-U", "coppice", "-A", "trust", "-E", "UTF8", "--locale=C")
        access = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
        (self.data / "pg_hba.conf").write_text(access, encoding="utf-8")
        self.start()
        self.execute(f"CREATE ROLE guarded LOGIN SUPERUSER PASSWORD '{PASSWORD}'")

    @contextmanager
    def cleared_away(self) -> Iterator[None]:
        """When the block ends, or this process dies in whatever way, the server stops and its folder goes.

        A shell waits for that: its standard input ends with us.
        """
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        with subprocess.Popen(
            ["/bin/sh", "-c", _CLEAR_AWAY, self.programs / "pg_ctl", self.data, self.folder],
            user=self._user,
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ):
            yield

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @cached_property
    def _user(self) -> str | None:
        """PostgreSQL refuses to be run by root."""
        return "postgres" if os.geteuid() == 0 else None

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self.programs / program, *arguments],
            user=self._user,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()


def find_programs() -> Path | None:
    """The folder with PostgreSQL's programs, the newest version's."""
    versions = sorted(_DEBIAN.glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    program = str(versions[-1]) if versions else shutil.which("initdb")
    return Path(program).resolve().parent if program else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _missing() -> str | None:
    if find_programs() is None:
        return "PostgreSQL is not installed: no initdb was found"
    return missing_driver()


def missing_driver() -> str | None:
    """Why no PostgreSQL server can be connected to, or None."""
    try:
        import psycopg  # noqa: F401, PLC0415 - whether it is there is the question
    except ImportError:
        return "PostgreSQL's driver is not installed: it comes with the extra `postgres`"
    return None


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """A server of its own; skips or fails the test where PostgreSQL is not installed."""
    reason = _missing()
    programs = find_programs()
    if reason is not None or programs is None:
        missing("postgres", str(reason))
    server = PostgresServer(programs, Path(tempfile.mkdtemp(prefix="coppice-pg-")), free_port())
    with server.cleared_away():
        server.make()
        yield server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One server for all tests; each has a schema of its own."""
    with running_server() as server:
        yield server


_SCHEMAS = iter(range(1, 1_000_000))


@contextmanager
def fresh_schema(server: PostgresServer) -> Iterator[str]:
    """The URL of an empty schema, which goes when the block ends."""
    name = f"t{next(_SCHEMAS)}"
    server.execute(f"CREATE SCHEMA {name}")
    try:
        yield server.url(name)
    finally:
        server.drop_connections()
        server.execute(f"DROP SCHEMA {name} CASCADE")
