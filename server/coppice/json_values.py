"""JSON that others wrote, of any shape: values of the type that is wanted, or an empty one instead."""

from collections.abc import Iterator
from typing import Any


def as_object(value: Any) -> dict[str, Any]:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """`value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """`value` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_count(value: Any) -> int | None:
    """A number of things; None for what is no number, and for fractions of a thing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value >= 0 and value == value // 1 and value < 10**12 else None


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in `value`, if it is a list."""
    return (item for item in as_list(value) if isinstance(item, dict))


def at(value: Any, *path: str) -> Any:
    """What is in `value` at the keys of `path`, None where it has no such part."""
    for key in path:
        value = as_object(value).get(key)
    return value


def text_at(value: Any, *path: str) -> str | None:
    """The string that is in `value` at the keys of `path`, None where there is none."""
    text = at(value, *path)
    return text if isinstance(text, str) else None


def list_at(value: Any, *path: str) -> list[Any]:
    """The array that is in `value` at the keys of `path`, empty where there is none."""
    return as_list(at(value, *path))
