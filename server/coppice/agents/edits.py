"""What is changed in the text of a configuration file, so that it can be taken back."""

import json
import re
import tomllib
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from typing_extensions import override

from coppice.agents import jsonc
from coppice.agents.jsonc import ConfigurationError

_BEGIN: Final = "# Added by `coppice connect`; `coppice connect --remove` takes it out.\n"
_END: Final = "# End of what `coppice connect` added.\n"


@dataclass(frozen=True, kw_only=True)
class Edit(ABC):
    """A change of `path`, a file of the user's; `what` says it to a person."""

    path: Path
    what: str

    @abstractmethod
    def applied(self, text: str | None) -> str:
        """`text`, None for no file, with the change. Raises ConfigurationError where that cannot be."""

    @abstractmethod
    def removed(self, text: str, before: str | None) -> str:
        """`text` without the change; `before` is the file before it, as far as that is known."""

    def is_in(self, text: str | None) -> bool:
        """Whether `text` has the change."""
        with suppress(ConfigurationError):
            return text is not None and self.applied(text) == text
        return False


@dataclass(frozen=True, kw_only=True)
class Member(Edit):
    """`value` under `keys` of a JSON file."""

    keys: tuple[str, ...]
    value: Any

    @override
    def applied(self, text: str | None) -> str:
        if (
            text is not None
            and (current := _value_at(text, self.keys)) is not _NOTHING
            and current == self.value
        ):
            return text
        return jsonc.with_member(text or "{}\n", self.keys, self.value)

    @override
    def removed(self, text: str, before: str | None) -> str:
        return jsonc.without_member(text, self.keys, keep=_depth(before, self.keys[:-1]))


@dataclass(frozen=True, kw_only=True)
class Items(Edit):
    """`items` in the list under `keys` of a JSON file; `mark` occurs in the text of each."""

    keys: tuple[str, ...]
    items: tuple[Any, ...]
    mark: str

    @override
    def applied(self, text: str | None) -> str:
        text = text or "{}\n"
        listed = _value_at(text, self.keys)
        present = listed if isinstance(listed, list) else []
        for item in self.items:
            if item not in present:
                text = jsonc.with_item(text, self.keys, item)
        return text

    @override
    def removed(self, text: str, before: str | None) -> str:
        return jsonc.without_items(text, self.keys, self.mark, keep=_depth(before, self.keys))


@dataclass(frozen=True, kw_only=True)
class Block(Edit):
    """Tables at the end of a TOML file, between two comments. `name` is a table that they make."""

    tables: str
    name: tuple[str, ...]

    @override
    def applied(self, text: str | None) -> str:
        text = "" if text is None else text
        block = f"{_BEGIN}{self.tables}{_END}"
        if block in text:
            return text
        rest = self.removed(text, None)
        if _has_table(rest, self.name):
            raise ConfigurationError(
                f"There is a table [{'.'.join(self.name)}] already. Take it out, then connect again."
            )
        gap = "" if not rest or rest.endswith("\n\n") else "\n" if rest.endswith("\n") else "\n\n"
        after = rest + gap + block
        try:
            tomllib.loads(after)
        except tomllib.TOMLDecodeError as error:
            raise ConfigurationError(f"The file would be no valid TOML ({error}).") from error
        return after

    @override
    def removed(self, text: str, before: str | None) -> str:
        pattern = re.escape(_BEGIN) + r"(?:(?!" + re.escape(_BEGIN) + r")[^\n]*\n)*?" + re.escape(_END)
        match = re.search(pattern, text)
        if match is None:
            return text
        start = match.start()
        if before is not None and text[:start].rstrip("\n") == before.rstrip("\n"):
            return before + text[match.end() :]
        return text[:start].removesuffix("\n") + text[match.end() :]


@dataclass(frozen=True, kw_only=True)
class OwnFile(Edit):
    """A file that is ours alone."""

    content: str = field(repr=False)

    @override
    def applied(self, text: str | None) -> str:
        return self.content

    @override
    def removed(self, text: str, before: str | None) -> str:
        return before or ""


_NOTHING: Final = object()


def _value_at(text: str, keys: tuple[str, ...]) -> Any:
    """The value under `keys`; `_NOTHING` where there is none or it cannot be read."""
    with suppress(ConfigurationError, ValueError):
        here = jsonc.parsed(text)
        for number, key in enumerate(keys):
            slot = here.member(key)
            if slot is None:
                return _NOTHING
            here = slot.value
            if number == len(keys) - 1:
                return json.loads(text[here.start : here.end])
    return _NOTHING


def _depth(text: str | None, keys: tuple[str, ...]) -> int:
    """How many of `keys` lead to something in `text`."""
    with suppress(ConfigurationError):
        here = jsonc.parsed(text or "")
        for number, key in enumerate(keys):
            slot = here.member(key)
            if slot is None:
                return number
            here = slot.value
        return len(keys)
    return 0


def _has_table(text: str, name: tuple[str, ...]) -> bool:
    try:
        here: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"The file is no valid TOML ({error}).") from error
    for key in name:
        here = here.get(key) if isinstance(here, dict) else None
    return here is not None
