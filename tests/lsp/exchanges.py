"""The exchanges that docs/protocol.md shows, played to a real server.

A block `jsonrpc` holds messages: those after `-->` are sent, those after `<--` have to come. A name in angle
brackets, `<id>`, stands for the value that it had where it came first; `…` for any value, for the rest of a
text, or for further items of a list. Properties that a block leaves out may be there.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from lsp.raw_client import RawServer

_BLOCK: Final = re.compile(r"^```jsonrpc\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ARROW: Final = re.compile(r"^(-->|<--) ", re.MULTILINE)
_NAME: Final = re.compile(r"<\w+>")
_ANY: Final = "…"


@dataclass(frozen=True)
class Step:
    """A message of a block: one that the client sends, or that the server has to send."""

    is_sent: bool
    message: dict[str, Any]


def exchanges(document: str) -> dict[str, list[Step]]:
    """The blocks of a document in their order, by the heading that each is under."""
    by_heading = {}
    for block in _BLOCK.finditer(document):
        heading = re.findall(r"^#+ (.+)$", document[: block.start()], re.MULTILINE)[-1]
        assert heading not in by_heading, f"{heading} has two exchanges"
        _, *parts = _ARROW.split(block[1])
        arrows, bodies = parts[::2], parts[1::2]
        by_heading[heading] = [
            Step(arrow == "-->", json.loads(body)) for arrow, body in zip(arrows, bodies, strict=True)
        ]
    return by_heading


class Play:
    """Plays steps; `values` are those that the names stand for."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def play(self, server: RawServer, step: Step) -> None:
        """Sends the step's message, or waits for the one that fits it."""
        if step.is_sent:
            server.send({"jsonrpc": "2.0", **self._filled(step.message)})
            return
        expected = step.message
        if "method" not in expected:
            answer = server.answer(self._filled(expected["id"]))
            mismatch = self.mismatch(expected, answer)
            assert mismatch is None, f"{mismatch}\nThe server sent {json.dumps(answer, indent=1)}"
            return
        server._first(
            lambda message: message.get("method") == expected["method"] and self._is(expected, message)
        )

    def _is(self, expected: dict[str, Any], message: dict[str, Any]) -> bool:
        before = dict(self.values)
        if self.mismatch(expected, message) is None:
            return True
        self.values = before
        return False

    def _filled(self, value: Any) -> Any:
        """`value` with what its names stand for."""
        if isinstance(value, dict):
            return {key: self._filled(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._filled(each) for each in value]
        if not isinstance(value, str):
            return value
        if _NAME.fullmatch(value):
            return self.values[value]
        return _NAME.sub(lambda name: str(self.values[name[0]]), value)

    def mismatch(self, expected: Any, value: Any, path: str = "") -> str | None:
        """Where `value` is not what is expected, and how; None where it is."""
        if isinstance(expected, str):
            return self._text_mismatch(expected, value, path)
        if isinstance(expected, dict) and isinstance(value, dict):
            absent = expected.keys() - value.keys()
            if absent:
                return f"{path} has no {', '.join(sorted(absent))}"
            pairs = [(each, value[key], f"{path}.{key}") for key, each in expected.items()]
        elif isinstance(expected, list) and isinstance(value, list):
            is_open = expected[-1:] == [_ANY]
            items = expected[:-1] if is_open else expected
            if len(value) < len(items) or (len(value) > len(items) and not is_open):
                return f"{path} has {len(value)} items"
            pairs = [(each, value[index], f"{path}[{index}]") for index, each in enumerate(items)]
        else:
            return None if expected == value else f"{path} is {value!r} and not {expected!r}"
        mismatches = (self.mismatch(*pair) for pair in pairs)
        return next((each for each in mismatches if each is not None), None)

    def _text_mismatch(self, expected: str, value: Any, path: str) -> str | None:
        if _NAME.fullmatch(expected):
            same = self.values.setdefault(expected, value) == value
        elif expected.endswith(_ANY):
            beginning = self._filled(expected.removesuffix(_ANY))
            same = beginning == "" or (isinstance(value, str) and value.startswith(beginning))
        else:
            same = self._filled(expected) == value
        return None if same else f"{path} is {value!r} and not {expected!r}"
