"""How deep a JSON value nests, in time linear in its size and without recursion."""

from collections.abc import Iterable
from typing import Any, Final

MAX_DEPTH: Final = 128
"""Levels of a value that is stored and sent: pydantic serializes about 250 at most."""


def nests_deeper(value: Any, levels: int = MAX_DEPTH) -> bool:
    """Whether arrays and objects are nested more than `levels` deep."""
    level = [value]
    for _ in range(levels):
        level = [inner for outer in level for inner in _within(outer) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def storable(value: dict[str, Any]) -> dict[str, Any]:
    """`value`, or a note in place of one that nests too deep."""
    return {"input": f"[nested more than {MAX_DEPTH} levels deep]"} if nests_deeper(value) else value


def _within(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
