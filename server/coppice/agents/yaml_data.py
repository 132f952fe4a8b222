"""What is in a YAML configuration file."""

from typing import Any, Final

import yaml
from typing_extensions import override
from yaml.nodes import Node

from coppice.agents.jsonc import ConfigurationError

NOTHING: Final = object()
"""Where there is no value."""


class _Loader(yaml.SafeLoader):
    """Refuses aliases: a few of them make values of any size, and an edit in one place changes another."""

    @override
    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it has aliases")
        return super().compose_node(parent, index)


def data_of(text: str) -> dict[Any, Any]:
    """The mapping that the file is. Raises ConfigurationError where it is none, or has aliases."""
    # LookupError and AttributeError are what the loader raises for a value that its tag does not fit,
    # OverflowError for a number in base 60 that is too large.
    try:
        data = yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, OverflowError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ConfigurationError(f"The file is no YAML that is edited ({reason}).") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ConfigurationError("The file is no YAML mapping.")
    return data


def value_at(data: dict[Any, Any], keys: tuple[str, ...]) -> Any:
    """The value under `keys`, or NOTHING."""
    here: Any = data
    for key in keys:
        if not isinstance(here, dict) or key not in here:
            return NOTHING
        here = here[key]
    return here


def without(data: dict[Any, Any], keys: tuple[str, ...]) -> dict[Any, Any]:
    """`data` without what is under `keys`, and without what is empty then."""
    key, *rest = keys
    inner = data.get(key)
    left = without(inner, tuple(rest)) if rest and isinstance(inner, dict) else None if not rest else inner
    others = {each: value for each, value in data.items() if each != key}
    return {**others, key: left} if left else others
