"""Between an entry and the JSON that is stored of it."""

import json
from typing import Any, Final

from pydantic_core import PydanticSerializationError

from coppice.errors import StoreDamagedError
from coppice.store.schema.column_types import DamagedText
from coppice.tree.entries import ENTRY, Entry

_HAVE_COLUMNS: Final = {"id", "parent_id", "timestamp", "type"}


def body_of(entry: Entry) -> str:
    """The entry's JSON without the properties that have columns of their own.

    A lone surrogate, which no database can hold, becomes U+FFFD.
    """
    try:
        return entry.model_dump_json(by_alias=True, exclude=_HAVE_COLUMNS)
    except PydanticSerializationError:
        data = entry.model_dump(mode="python", by_alias=True, exclude=_HAVE_COLUMNS)
    return storable(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def entry_from(entry_id: str, parent_id: str | None, timestamp: str, entry_type: str, body: str) -> Entry:
    """The entry that `body_of` was made from.

    Raises:
        StoreDamagedError: the row does not hold what was written.
    """
    data: dict[str, Any] = {"type": entry_type, "id": entry_id, "parentId": parent_id, "timestamp": timestamp}
    if isinstance(body, DamagedText):
        raise _damaged(entry_id)
    try:
        data.update(json.loads(body))
        return ENTRY.validate_python(data)
    except (TypeError, ValueError) as error:
        raise _damaged(entry_id) from error


def readable_body(body: str) -> dict[str, Any]:
    """The JSON of a body for those who can do without it: empty where it cannot be read."""
    try:
        value = json.loads(body)
    except (TypeError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _damaged(entry_id: str) -> StoreDamagedError:
    return StoreDamagedError(
        "An entry of this conversation is damaged on the disk. Run `coppice doctor --repair`: it saves "
        "everything else, and what can be read of the entry. Other conversations can be used.",
        entryId=entry_id,
    )


def same_body(one: str, other: str) -> bool:
    """Whether two bodies are equal but for the order of properties."""
    return one == other or _ordered(one) == _ordered(other)


def storable(text: str) -> str:
    """`text` with each lone surrogate replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def showable(text: str) -> str:
    """`text` for a column that is shown rather than compared: PostgreSQL holds no NUL."""
    return storable(text).replace("\0", "\N{REPLACEMENT CHARACTER}")


def _ordered(body: str) -> str:
    return json.dumps(json.loads(body), sort_keys=True)
