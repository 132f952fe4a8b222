"""Between an entry and the JSON that is stored of it."""

import json
from typing import Any

from pydantic_core import PydanticSerializationError

from coppice.tree.entries import ENTRY, Entry

_HAVE_COLUMNS = ("id", "parentId", "timestamp", "type")


def body_of(entry: Entry) -> str:
    """The entry's JSON without the properties that have columns of their own.

    A lone surrogate, which no database can hold, becomes U+FFFD.
    """
    try:
        data = entry.model_dump(mode="json", by_alias=True)
    except PydanticSerializationError:
        data = entry.model_dump(mode="python", by_alias=True)
    for name in _HAVE_COLUMNS:
        data.pop(name, None)
    return storable(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def entry_from(entry_id: str, parent_id: str | None, timestamp: str, entry_type: str, body: str) -> Entry:
    """The entry that `body_of` was made from."""
    data: dict[str, Any] = {"type": entry_type, "id": entry_id, "parentId": parent_id, "timestamp": timestamp}
    data.update(json.loads(body))
    return ENTRY.validate_python(data)


def same_body(one: str, other: str) -> bool:
    """Whether two bodies say the same; the order of properties says nothing."""
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
