"""The type of columns that hold whatever text a client sends."""

import re
from typing import Final

from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

_ESCAPE: Final = "\x1a"
_ESCAPED: Final = {"\0": _ESCAPE + "0", _ESCAPE: _ESCAPE + "1"}
_PLAIN: Final = {escaped: plain for plain, escaped in _ESCAPED.items()}
_TO_ESCAPE: Final = re.compile(f"[\0{_ESCAPE}]")
_TO_RESTORE: Final = re.compile(f"{_ESCAPE}[01]")


class EscapedText(TypeDecorator[str]):
    """Text for PostgreSQL, which holds no NUL: escaped so that equal stays equal and different different.

    Compared by code point, as SQLite does, and not as the server's language sorts.
    """

    impl = Text
    cache_ok = True

    def __init__(self) -> None:
        super().__init__(collation="C")

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else _TO_ESCAPE.sub(lambda found: _ESCAPED[found[0]], value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else _TO_RESTORE.sub(lambda found: _PLAIN[found[0]], value)


ANY_TEXT: Final = Text().with_variant(EscapedText(), "postgresql")
