"""Compactions whose summary a mod wrote or changed.

Claude Code then records it without a mark, as a message that hangs on the boundary, and after it copies of
the messages that stay, with new ids. Their times tell both: the summary is older than its boundary, and a
copy has the time of its original; the copy of a tool's result may have that of the summary, and answers the
call of its original.
"""

from typing import Any

from coppice.formats.claude_messages import tool_results_of
from coppice.formats.claude_records import Kind, Record
from coppice.formats.lines import object_at, text_at
from coppice.formats.source import NotResumableError


class Rewritten:
    """The newest boundary, and the times of what was recorded before it."""

    def __init__(self, *, resumed: bool) -> None:
        self._resumed = resumed
        self._ids: dict[tuple[str | None, str | None], str] = {}
        self._boundary: tuple[Record, str] | None = None
        self._is_rewritten = False

    def note(self, record: Record, value: dict[str, Any]) -> None:
        """Remembers a record of a message or a boundary."""
        if record.kind == "boundary":
            self._boundary = (record, text_at(value, "timestamp") or "")
            self._is_rewritten = False
        else:
            for key in _keys_of(value):
                self._ids.setdefault(key, record.uuid)

    def kind(self, value: dict[str, Any], kind: Kind) -> Kind:
        """`summary` for the first message after a boundary that is older than it; else `kind`."""
        if self._is_older(value) and kind == "user" and not self._is_rewritten:
            assert self._boundary is not None  # noqa: S101 - what it is older than
            if text_at(value, "parentUuid") == self._boundary[0].uuid:
                self._is_rewritten = True
                return "summary"
        return kind

    def boundary_of_copy(self, value: dict[str, Any]) -> Record | None:
        """The boundary after which a record is a copy; None for any other record.

        It learns which message stays first. Raises NotResumableError where the original may be one of those
        before this reading.
        """
        if not self._is_rewritten or not self._is_older(value):
            return None
        assert self._boundary is not None  # noqa: S101 - what it is older than
        original = next((self._ids[key] for key in _keys_of(value) if key in self._ids), None)
        if original is None:
            if self._resumed:
                raise NotResumableError
            return None
        boundary, _ = self._boundary
        boundary.first_kept = boundary.first_kept or original
        return boundary

    def is_open(self, last: Record) -> bool:
        """Whether copies may follow `last`, which say which message stays first."""
        return (
            self._is_rewritten
            and last.kind == "summary"
            and self._boundary is not None
            and self._boundary[0].first_kept is None
        )

    def _is_older(self, value: dict[str, Any]) -> bool:
        return self._boundary is not None and "" < (text_at(value, "timestamp") or "") < self._boundary[1]


def _keys_of(value: dict[str, Any]) -> list[tuple[str | None, str | None]]:
    """What a copy has in common with its original; the most certain first."""
    answered = tool_results_of(object_at(value, "message"))
    results = [("result", text_at(block, "tool_use_id")) for block in answered]
    return [*results, (text_at(value, "type"), text_at(value, "timestamp"))]
