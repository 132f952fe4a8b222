"""Parts of the JSON values that a client sends, which may have any shape."""

from typing import Any


def at(value: Any, *path: str) -> Any:
    """What is in `value` at the keys of `path`, None where it has no such part."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text_at(value: Any, *path: str) -> str | None:
    """The string that is in `value` at the keys of `path`, None where there is none."""
    text = at(value, *path)
    return text if isinstance(text, str) else None


def list_at(value: Any, *path: str) -> list[Any]:
    """The array that is in `value` at the keys of `path`, empty where there is none."""
    items = at(value, *path)
    return items if isinstance(items, list) else []
