"""What the user typed while a reply was written, in Claude Code's `queue-operation` records.

Versions before 2.1.200 or so recorded such a message nowhere else when it was given to the model during the
turn: it was put into the queue (`enqueue`) and taken out of it (`remove`). Later ones write an attachment
too, before or after. What is taken out in other ways is a prompt with a record of its own, or was not sent.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from coppice.formats.claude_harness import Author, attached, attachment_of, author_of
from coppice.formats.claude_messages import blocks_of
from coppice.formats.lines import ParsedLine, text_at

_NOTICE: Final = "<task-notification>"  # text may follow its end
_MOST: Final = 100  # messages that wait; a person types a few while an agent works


@dataclass
class Queue:
    """The lines of the messages that wait, oldest first.

    `unanswered` has those that were given to the model and that no reply has followed yet, by their text,
    with what `given` was told of them.
    """

    waiting: list[ParsedLine] = field(default_factory=list)
    unanswered: dict[str, int] = field(default_factory=dict)
    _has_record: bool = False

    def change(self, line: ParsedLine) -> ParsedLine | None:
        """Follows a `queue-operation`; the line of the message that it gives to the model."""
        match text_at(line.value, "operation"):
            case "enqueue" if (text_at(line.value, "content") or "").strip():
                self.waiting = [*self.waiting, line][-_MOST:]
            case "remove" if self._has_record:
                self._has_record = False
            case "remove" if self.waiting:
                return self._taken(text_at(line.value, "content"))
            case "dequeue" if self.waiting:
                self._taken(text_at(line.value, "content"))
            case "popAll":
                self.waiting.clear()
        return None

    def given(self, line: ParsedLine, index: int) -> None:
        """The message in `line` has become the record `index`."""
        self.unanswered[queued_text(line.value)] = index

    def recorded(self, value: dict[str, Any]) -> list[int]:
        """The records of messages that `value`, a record of the user's, holds as well."""
        texts = set(_texts(value))
        before = len(self.waiting)
        self.waiting = [line for line in self.waiting if queued_text(line.value) not in texts]
        self._has_record = len(self.waiting) < before
        return [self.unanswered.pop(text) for text in texts & self.unanswered.keys()]

    def answered(self) -> None:
        """A reply has begun."""
        self._has_record = False
        self.unanswered.clear()

    def _taken(self, text: str | None) -> ParsedLine:
        """The oldest with this text; without one the oldest that the user wrote, or of all."""
        ranks = [
            (text is None or text_at(line.value, "content") != text, queued_author(line.value) != "user")
            for line in self.waiting
        ]
        return self.waiting.pop(ranks.index(min(ranks)))


def queued_text(value: dict[str, Any]) -> str:
    """The words of a message that was put into the queue."""
    return (text_at(value, "content") or "").strip()


def queued_author(value: dict[str, Any]) -> Author:
    """Who wrote a message that was put into the queue."""
    text = queued_text(value)
    return "harness" if text.startswith(_NOTICE) else author_of(text)


def _texts(value: dict[str, Any]) -> list[str]:
    if attachment_of(value) is not None:
        return [attached(value)[1].strip()]
    message = value.get("message")
    blocks = blocks_of(message) if isinstance(message, dict) else []
    return [text.strip() for block in blocks if (text := text_at(block, "text"))]
