"""Text as columns hold it: whatever a client sends, and what a damaged disk makes of it."""

import re
from typing import Final

from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator
from typing_extensions import override

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

    @override
    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else _TO_ESCAPE.sub(lambda match: _ESCAPED[match[0]], value)

    @override
    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else _TO_RESTORE.sub(lambda match: _PLAIN[match[0]], value)


class DamagedText(str):
    """Text that is no UTF-8 on the disk, with U+FFFD where it cannot be read. No writer stores such."""

    __slots__ = ()


ANY_TEXT: Final = Text().with_variant(EscapedText(), "postgresql")
