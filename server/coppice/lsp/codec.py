"""JSON of the wire: strict on input, always valid on output."""

import json
import math
import re
from collections.abc import Callable
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from coppice.json_values import at
from coppice.tree.nesting import MAX_DEPTH, nests_deeper

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

    Lone surrogates, which JavaScript leaves when it cuts a string in two, are no characters and
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
    except NotJSONError:
        raise
    except ValueError:
        raise NotJSONError("a number has too many digits") from None
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and nests_deeper(value):
        raise TooDeepError(at(value, "id"))
    return repaired(value) if _MAYBE_SURROGATE.search(body) else value


def encode(message: Any, unstructure: Callable[[Any], Any]) -> bytes:
    """`message` as UTF-8 JSON. What JSON cannot represent becomes null (`NaN`, infinities) or U+FFFD.

    What pydantic does not know goes through `unstructure`, which raises for what it does not know either.
    """
    try:
        return to_json(message, by_alias=True, inf_nan_mode="null", fallback=unstructure)
    except PydanticSerializationError:  # lone surrogates, for which pydantic has no mode
        plain = json.loads(json.dumps(message, default=lambda value: _plain(value, unstructure)))
        return to_json(repaired(plain), inf_nan_mode="null")


def repaired(value: Any) -> Any:
    """`value` with U+FFFD for each lone surrogate in its strings and keys."""
    if isinstance(value, str):
        return _without_surrogates(value)
    if isinstance(value, list):
        return [repaired(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): repaired(item) for key, item in value.items()}
    return value


def _plain(value: Any, unstructure: Callable[[Any], Any]) -> Any:
    """One level of `value` as JSON has it, whatever its strings hold."""
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True)
    return to_jsonable_python(value, inf_nan_mode="null", fallback=unstructure)


def _without_surrogates(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _refuse_constant(name: str) -> Any:
    raise NotJSONError(f"{name} is no JSON value")


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise NotJSONError("a number is out of range")
    return number
