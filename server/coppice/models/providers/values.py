"""JSON from a stranger: values of the type that is wanted, or a harmless one instead."""

from collections.abc import Iterable, Iterator
from typing import Any


def as_object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def as_count(value: Any) -> int | None:
    """A number of things; None for what is no number, and for fractions of a thing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value >= 0 and value == value // 1 and value < 10**12 else None


def objects(value: Any) -> Iterator[dict[str, Any]]:
    return (item for item in as_list(value) if isinstance(item, dict))


def at(value: Any, *path: str) -> Any:
    """What stands at `path` within nested objects, or None."""
    for key in path:
        value = as_object(value).get(key)
    return value


def nests_deeper(value: Any, levels: int) -> bool:
    """Whether arrays and objects stand within each other more than `levels` deep."""
    level = [value]
    for _ in range(levels):
        level = [inner for outer in level for inner in _within(outer) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _within(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else as_list(value)
