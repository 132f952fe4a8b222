"""The server of a Coppice whose schema is some steps ahead of this one's."""

import sys
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, text

from coppice.lsp.connection import serve_stdio
from coppice.store import store
from coppice.store.engines.engine import Database
from coppice.store.engines.migrations import MIGRATIONS, Migration, migrate

VERSION = MIGRATIONS[-1].number


def command(steps: int) -> tuple[str, ...]:
    """What Python runs for a server that is `steps` ahead."""
    return (str(Path(__file__)), str(steps)) if steps else ("-m", "coppice.lsp")


def look_ahead(steps: int) -> int:
    """Lets this process open stores as a Coppice that is `steps` ahead; the schema's version."""
    newer = [Migration(VERSION + step, partial(_add_column, step)) for step in range(1, steps + 1)]
    store.migrate = partial(migrate, steps=[*MIGRATIONS, *newer])  # type: ignore[attr-defined]  # its import
    return VERSION + steps


def _add_column(step: int, _: Database, connection: Connection) -> None:
    connection.execute(text(f"ALTER TABLE conversation ADD COLUMN colour{step} TEXT"))


if __name__ == "__main__":
    look_ahead(int(sys.argv[1]))
    serve_stdio()
