"""Values in the databases of other agents: JSON in a column, and moments."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any


def object_of(value: object) -> dict[str, Any]:
    """The object that `value` is, or that is written in it; empty where there is none."""
    made = json_of(value)
    return made if isinstance(made, dict) else {}


def json_of(value: object) -> Any:
    """What is written in `value` where that is JSON, otherwise `value`."""
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def time_of(seconds: object) -> str | None:
    """An ISO 8601 UTC string of seconds since 1970; None where `seconds` is no such number."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    with suppress(OverflowError, ValueError, OSError):
        moment = datetime.fromtimestamp(seconds, UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return None
