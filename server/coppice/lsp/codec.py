"""JSON as it stands on the wire: strict in, always valid out."""

import enum
import json
import math
import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from typing import Any, Final

from pydantic import BaseModel

MAX_DEPTH: Final = 128
"""How deep arrays and objects may nest in a message; what is stored must be answerable too."""

_MAYBE_SURROGATE: Final = re.compile(rb"\\u[dD][89abAB]|\\u[dD][c-fC-F]")


class NotJSONError(ValueError):
    """A body that is no JSON text. The message quotes nothing of it."""


class TooDeepError(ValueError):
    """A body that nests deeper than `MAX_DEPTH`. `request_id` is the message's own id, where it has one."""

    def __init__(self, request_id: object) -> None:
        super().__init__(f"the message nests deeper than {MAX_DEPTH} levels")
        self.request_id = request_id


def decode(body: bytes) -> Any:
    """The JSON value of `body`, which is UTF-8.

    Lone surrogates, which JavaScript leaves behind when it cuts a string in two, are no characters and
    can be stored nowhere: each becomes U+FFFD. `NaN`, infinities and numbers beyond a double are refused.
    """
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant, parse_float=_finite)
    except UnicodeDecodeError:
        raise NotJSONError("the body is not valid UTF-8") from None
    except json.JSONDecodeError as error:
        raise NotJSONError(f"{error.msg} at character {error.pos}") from None
    except RecursionError:
        raise TooDeepError(None) from None
    except ValueError as error:
        raise NotJSONError(_reason(error)) from None
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _nests_too_deep(value):
        raise TooDeepError(value.get("id") if isinstance(value, dict) else None)
    return repaired(value) if _MAYBE_SURROGATE.search(body) else value


def encode(message: Any, unstructure: Callable[[Any], Any]) -> bytes:
    """`message` as UTF-8 JSON. What JSON cannot say becomes null (`NaN`, infinities) or U+FFFD.

    pydantic models, datetimes (ISO 8601 UTC), sets (as sorted arrays) and enums are known here; what else
    is no JSON value goes through `unstructure`, which raises TypeError for what it does not know.
    """

    def plain(value: Any) -> Any:
        return _plain(value, unstructure)

    try:
        text = json.dumps(message, default=plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        message = without_nan(json.loads(json.dumps(message, default=plain)))
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return _without_surrogates(text).encode("utf-8")


def repaired(value: Any) -> Any:
    """`value` with U+FFFD for each lone surrogate in its strings and keys."""
    if isinstance(value, str):
        return _without_surrogates(value)
    if isinstance(value, list):
        return [repaired(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): repaired(item) for key, item in value.items()}
    return value


def without_nan(value: Any) -> Any:
    """`value` with None for each number that JSON cannot write."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [without_nan(item) for item in value]
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    return value


def _plain(value: Any, unstructure: Callable[[Any], Any]) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, datetime):
        moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        return moment.isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if isinstance(value, enum.Enum):
        return value.value
    return unstructure(value)


def _without_surrogates(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _refuse_constant(name: str) -> Any:
    raise NotJSONError(f"{name} is no JSON value")


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise NotJSONError("a number is out of range")
    return number


def _reason(error: ValueError) -> str:
    return str(error) if isinstance(error, NotJSONError) else "a number has too many digits"


def _nests_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in _children(parent) if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
