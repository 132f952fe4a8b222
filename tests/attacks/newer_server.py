"""The server of a Coppice whose schema is one step ahead of this one's."""

from functools import partial

from sqlalchemy import Connection, text

from coppice.lsp.serve import serve_stdio
from coppice.store import store
from coppice.store.engine import Database
from coppice.store.migrations import MIGRATIONS, Migration, migrate


def add_colour(_: Database, connection: Connection) -> None:
    connection.execute(text("ALTER TABLE conversation ADD COLUMN colour TEXT"))


if __name__ == "__main__":
    steps = [*MIGRATIONS, Migration(MIGRATIONS[-1].number + 1, add_colour)]
    store.migrate = partial(migrate, steps=steps)  # type: ignore[attr-defined]  # a stand-in for its import
    raise SystemExit(serve_stdio())
