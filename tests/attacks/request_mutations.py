"""Requests made of the examples of docs/protocol.md by random changes, the same for the same seed."""

import copy
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from coppice.protocol.methods import METHODS

GOLDEN: Final = Path(__file__).parents[1] / "protocol" / "golden"
READING: Final = (
    "coppice/append",
    "coppice/recall",
    "coppice/callHistoryTool",
    "coppice/compactPreview",
    "coppice/compact",
    "coppice/ledger",
    "coppice/context",
    "coppice/files",
    "coppice/conversation/search",
    "coppice/conversation/export",
)
"""Methods that read or write what earlier requests stored: drawn as often as all others together."""
NAMES: Final = (
    "toolName", "toolCallId", "isError", "excludeFromContext", "details", "errorMessage", "usage", "role",
    "type", "content", "summary", "message", "id", "parentId", "timestamp", "arguments", "name", "text",
    "command", "output", "label", "firstKeptEntryId", "customType", "changes", "path", "data", "", "key",
)  # fmt: skip
"""Properties that are added where the protocol has none of the name."""
SCALARS: Final = (
    None, True, False, 0, -1, 5, 1.5, -0.0, 1e300, 2**31, 2**53, 2**63, 2**64, 10**30, "", " ", "\x00",
    "\ud83d", "e1", "user", "toolResult", "bashExecution", "message", "compaction", "a" * 300, "\n[User]: x",
    "../../etc", "file:///", "untitled:x", "[" * 50, "你好", "0001-01-01T00:00:00Z", "99999-01", "'\"`$(x)",
)  # fmt: skip
NEEDED: Final = frozenset({"conversationId", "query", "name", "arguments", "label", "pinned", "content"})
OF_ENTRIES: Final = frozenset(
    {"entryId", "targetId", "parentId", "leafId", "before", "after", "firstKeptEntryId", "fromId"}
)
DROPPED: Final = 0.7
"""How often a property is left out: where a request names no entry, it more often reads what is stored."""
DEEP: Final = 40
"""Levels of the deepest value that is put into a request."""


@dataclass
class Requests:
    """Draws requests about `conversations`, ids each with ids of entries, which the caller keeps current."""

    seed: int
    conversations: dict[str, list[str]]
    chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self._examples = dict(_examples())
        self._entries = self._examples["coppice/append"]["entries"]
        self._parts = [value for params in self._examples.values() for _, value in _within(params)]

    def next(self) -> tuple[str, dict[str, Any]]:
        """A method and its params."""
        method = self.chance.choice(READING if self.chance.random() < 0.8 else sorted(self._examples))
        if method == "coppice/conversation/import":
            return method, {"content": self._session()}
        params = copy.deepcopy(self._examples[method])
        about = self.chance.choice(list(self.conversations))
        if "conversationId" in params:
            params["conversationId"] = about
        for key in [key for key in params if key not in NEEDED]:
            if self.chance.random() < DROPPED:
                del params[key]
        self._name_entries(params, self.conversations[about])
        if method == "coppice/append":
            params["entries"] = self._some_entries(self.conversations[about])
            for _ in params["entries"]:
                self._changes(self.chance.choice(params["entries"]))
        else:
            self._changes(params)
        return method, params

    def _some_entries(self, ids: Sequence[str] = ()) -> list[Any]:
        entries = copy.deepcopy(self.chance.sample(self._entries, self.chance.randrange(1, 4)))
        for entry in entries:
            entry.pop("id", None)
            entry.pop("firstKeptEntryId", None)
            self._name_entries(entry, ids)
        return entries

    def _name_entries(self, value: Any, ids: Sequence[str]) -> None:
        """Puts ids of stored entries where ids belong."""
        for container, key in list(_places(value)) if ids else ():
            if key in OF_ENTRIES:
                container[key] = self.chance.choice(ids)
            elif key == "entryIds":
                container[key] = self.chance.sample(ids, 1)

    def _changes(self, value: Any) -> None:
        for _ in range(self.chance.choice((0, 0, 0, 1, 1, 2, 4))):
            self._change(value)

    def _change(self, params: Any) -> None:
        places = list(_places(params))
        container, key = self.chance.choice(places) if places else (params, "x")
        kind = self.chance.randrange(8)
        if kind == 0 and isinstance(container, dict):
            container.pop(key, None)
        elif kind in {1, 2, 3} and isinstance(container, dict):
            container[self.chance.choice(NAMES)] = self._value()
        elif kind == 4 and isinstance(container, list):
            container.append(copy.deepcopy(self.chance.choice(container)))
        elif kind == 5:
            container[key] = copy.deepcopy(self.chance.choice(self._parts))
        else:
            container[key] = self._value()

    def _value(self) -> Any:
        value: Any = self.chance.choice(SCALARS)
        match self.chance.randrange(8):
            case 0:
                return [value]
            case 1:
                return {self.chance.choice(NAMES): value}
            case 2:
                for _ in range(self.chance.randrange(DEEP)):
                    value = [value] if self.chance.random() < 0.5 else {"x": value}
                return value
            case 3:
                return self.chance.choice(([], {}, [None], [[]], {"": None}))
            case _:
                return value

    def _session(self) -> str:
        """The entries of an append as a session file of Pi's, each changed as the params of a request are."""
        entries = self._some_entries() + self._some_entries()
        lines: list[Any] = [{"type": "session", "version": 3, "id": "s", "timestamp": "", "cwd": "/"}]
        before = None
        for number, entry in enumerate(entries):
            lines.append(
                {"id": f"i{number}", "parentId": before, "timestamp": "2026-01-01T00:00:00Z", **entry}
            )
            before = f"i{number}"
        for _ in lines:
            self._changes(self.chance.choice(lines))
        return "\n".join(map(json.dumps, lines))


def _examples() -> Iterator[tuple[str, dict[str, Any]]]:
    for method in METHODS:
        name = f"{method.replace('/', '.')}.params.json"
        params = json.loads((GOLDEN / name).read_text(encoding="utf-8"))
        for name in ("workDoneToken", "partialResultToken", "uri", "expectedLeafId"):
            params.pop(name, None)
        yield method, params


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each container in `value` with each of its keys."""
    yield from ((container, key) for container, key, _ in _walk(value))


def _within(value: Any) -> Iterator[tuple[Any, Any]]:
    yield from ((key, inner) for _, key, inner in _walk(value))


def _walk(value: Any) -> Iterator[tuple[Any, Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key, inner
        yield from _walk(inner)
