"""The settings an editor gives: once with `initialize`, then whenever they change."""

from typing import Any


class EditorSettings:
    """`initial` came with `initialize` and applies where the editor's section has no value."""

    def __init__(self, initial: dict[str, Any]) -> None:
        self.initial = initial

    def merged_with(self, section: object) -> dict[str, Any]:
        """`initial` with the editor's section `coppice` over it; a section that is no object is ignored."""
        return _merged(self.initial, section) if isinstance(section, dict) else dict(self.initial)


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        both = isinstance(value, dict) and isinstance(under, dict)
        merged[key] = _merged(under or {}, value) if both else value
    return merged
