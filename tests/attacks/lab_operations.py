"""What the fault laboratory asks of a server, and what its answers promise."""

import itertools
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from attacks.lab_window import TOOL, TURN, Window
from waiting import wait_until

from coppice.protocol.notes import MAX_NOTE_CHARS

OPERATIONS: Final = (
    "append",
    "compact",
    "navigate",
    "import",
    "undo",
    "clear",
    "fork",
    "prompt",
    "note",
    "delete",
)
FEWEST: Final = 4
"""Conversations that must be there for one to be deleted."""

_CALLS: Final = itertools.count()

Note = Callable[[Any], None]


@dataclass
class Conversations:
    """`acknowledged` holds the ids of the entries of each conversation that must be there at the end, `notes`
    those of the workspace's notes.
    """

    chance: random.Random
    acknowledged: dict[str, set[str]] = field(default_factory=dict)
    notes: set[str] = field(default_factory=set)
    number: int = 0
    refused: int = 0
    prompted: int = 0
    compacted: int = 0
    cleared: int = 0

    def operation(self) -> str:
        """Any operation that leaves enough conversations."""
        return self.chance.choice(OPERATIONS if len(self.acknowledged) > FEWEST else OPERATIONS[:-1])

    def any(self) -> str:
        return self.chance.choice(sorted(self.acknowledged))

    def text(self) -> str:
        self.number += 1
        return f"Plant tree {self.number}. " + "x" * self.chance.choice((10, 300, 6_000))

    def done(
        self,
        window: Window,
        operation: str,
        text: str | None = None,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> str | None:
        """Sends the request and waits for the answer; the code of the refusal, if it is one.

        `meanwhile` is called after the one and before the other.
        """
        window.announced.clear()
        conversation = self.any()
        method, params, note = self.request(window, operation, conversation, text or self.text())
        logged = len(window.stderr)
        asked = window.start_request(f"coppice/{method}", params)
        meanwhile()
        answer = window.answer(asked)
        if conversation in self.acknowledged:
            self.acknowledged[conversation] |= set(window.announced)
        if "error" in answer:
            self.refused += 1
            if answer["error"]["message"] == "internal error":
                # The answer may be read before the line that was written before it.
                wait_until(lambda: b" failed: " in window.stderr[logged:])
                cause = window.stderr[logged:].rpartition(b" failed: ")[2]
                # Python's own failure, of an import for instance that had no memory.
                assert cause.startswith(b"builtins.SystemError"), (operation, cause)
            return str((answer["error"].get("data") or {}).get("code"))
        note(answer["result"])
        return None

    def request(  # noqa: PLR0911 - one for each operation
        self, window: Window, operation: str, conversation: str, text: str
    ) -> tuple[str, dict[str, Any], Note]:
        """The method, its params, and what to do with its result."""
        about = {"conversationId": conversation}
        ids = sorted(self.acknowledged[conversation])
        match operation:
            case "append":
                more = {"parentId": self.chance.choice(ids)} if self.chance.random() < 0.3 else {}
                entries = [message(text), *called(text), message("And then?")]
                return "append", {**about, **more, "entries": entries}, self._stores(conversation)
            case "clear":
                return "clearToolResults", {**about, "keepTokens": 0}, self._stores(conversation)
            case "note":
                return (
                    "note/add",
                    {"text": text[:MAX_NOTE_CHARS]},
                    lambda result: self.notes.add(result["note"]["id"]),
                )
            case "navigate":
                summarize = self.chance.random() < 0.3
                params = {**about, "targetId": self.chance.choice(ids), "summarize": summarize}
                return "navigate", params, self._stores(conversation)
            case "fork":
                params = {**about, "entryId": self.chance.choice(ids)}
                return "conversation/fork", params, lambda result: self._made(window, result)
            case "import":
                session = json.dumps({"type": "session", "id": "s", "timestamp": "", "cwd": "/"})
                entry = {"id": "i1", "parentId": None, "timestamp": "", **message(text)}
                content = f"{session}\n{json.dumps(entry)}\n"
                return "conversation/import", {"content": content}, lambda result: self._made(window, result)
            case "delete":
                del self.acknowledged[conversation]
                return "conversation/delete", about, _nothing
            case "undo":
                return "undoCompaction", about, _nothing
            case "prompt":
                params = {**about, "content": text, "tools": [TOOL], "maxSteps": 2}
                return "prompt", {**params, "partialResultToken": TURN}, self._stores(conversation)
            case _:
                return "compact", about, self._stores(conversation)

    def create(self, window: Window) -> None:
        made = window.result("coppice/conversation/create")["conversation"]["id"]
        self._fill(window, made)

    def _made(self, window: Window, result: Any) -> None:
        self._fill(window, result["conversation"]["id"])

    def _fill(self, window: Window, conversation: str) -> None:
        text = self.text()
        params = {"conversationId": conversation, "entries": [message(text), *called(text), message("On?")]}
        answer = window.request("coppice/append", params)
        if "result" in answer:
            self.acknowledged.setdefault(conversation, set()).update(answer["result"]["entryIds"])

    def _stores(self, conversation: str) -> Note:
        """Notes the entries that a result names."""

        def note(result: Any) -> None:
            made = [result.get("entry"), result.get("summaryEntry")]
            kinds = [entry["type"] for entry in made if entry]
            self.compacted += "compaction" in kinds
            self.cleared += "context_edit" in kinds
            self.prompted += "stopReason" in result
            ids = {*result.get("entryIds", ()), *result.get("compactions", ())}
            self.acknowledged[conversation] |= ids | {entry["id"] for entry in made if entry}

        return note


def message(text: str) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "content": text}}


def called(text: str) -> Iterator[dict[str, Any]]:
    """A call of a tool, its result, long enough to be cleared, and the reply of a model that has seen it."""
    arguments = {"path": "tree.py"}
    call = {"type": "toolCall", "id": f"c-{next(_CALLS)}", "name": "read", "arguments": arguments}
    content = [{"type": "text", "text": f"{text} " + "The leaves are green. " * 100}]
    result = {"role": "toolResult", "toolCallId": call["id"], "toolName": "read", "isError": False}
    seen = {"role": "assistant", "content": [{"type": "text", "text": "I see."}], "stopReason": "stop"}
    yield {"type": "message", "message": {"role": "assistant", "content": [call], "stopReason": "toolUse"}}
    yield {"type": "message", "message": {**result, "content": content}}
    yield {"type": "message", "message": seen}


def _nothing(_: Any) -> None:
    """A result of which nothing is promised."""
