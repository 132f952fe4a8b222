"""An OpenClaw session, in the database of one of OpenClaw's agents.

Written after the table `transcript_events` of version 2026.9.6. Its rows are the lines of a Pi session of
version 4, long ones compressed. A record of the type `leaf` moves the leaf and is no entry; a `reset` is a
compaction without a summary. What other sessions and OpenClaw itself send has the role of the user, with a
`provenance` (src/sessions/input-provenance.ts); the session of a sub-agent has a `spawned_by`.
"""

import sys
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar, Final, cast

from typing_extensions import override

from coppice.errors import ImportFailedError
from coppice.formats import pi
from coppice.formats.foreign_database import json_of, rows_of
from coppice.formats.lines import dump_line, object_at, text_at
from coppice.formats.source import Source
from coppice.tree.entries import HARNESS_TYPE

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_ROWS: Final = """
SELECT event_json, event_zstd,
    (SELECT leaf_event_id FROM session_transcript_index_state AS state
        WHERE state.session_id = event.session_id AND needs_rebuild = 0 AND indexed_seq >= seq),
    (SELECT spawned_by FROM session_windows AS session WHERE session.session_id = event.session_id)
FROM transcript_events AS event WHERE session_id = ? ORDER BY seq
"""
_MAX_BYTES: Final = 4 * 2**20  # of a record, as OpenClaw's table has it
_UNPACKED_CHARS: Final = 512 * 2**20
"""Of a session. A record of 4 MB may have 400 bytes in the database."""
_OWN: Final = "openclaw."
"""Before the `customType` of OpenClaw's own bookkeeping, which repeats results of tools."""


class Reader(pi.Reader):
    """Reads the session `source.part` of the database, each time as a whole."""

    format: ClassVar[str] = "openclaw"
    title: ClassVar[str] = "OpenClaw session"

    def __init__(self, source: Source) -> None:
        self._leaf: str | None = None
        self._of_sub_agent = False
        self._moved: dict[str, str | None] = {}
        unreadable: Counter[str] = Counter()
        lines = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - closed when this reader goes
        weakref.finalize(self, lines.close)
        self._write(lines, source, unreadable)
        super().__init__(Source(lines, lambda *_: source.check()))
        self.skipped += unreadable

    @override
    def _state(self) -> None:
        return None

    @override
    def _find_leaf(self) -> str | None:
        leaf = self._moved.get(self._leaf or "", self._leaf)
        return leaf if leaf and self._index.position_of(leaf) is not None else super()._find_leaf()

    def _write(self, lines: BinaryIO, source: Source, unreadable: "Counter[str]") -> None:
        unpacked = 0
        for plain, packed, leaf, spawned_by in rows_of(source, _ROWS, source.part or ""):
            self._leaf = leaf if isinstance(leaf, str) else None
            self._of_sub_agent = spawned_by is not None
            text = plain if isinstance(plain, str) else _unpacked(packed)
            unpacked += len(text)
            if unpacked > _UNPACKED_CHARS:
                raise ImportFailedError("Unpacked, the session is too long. Have OpenClaw begin another.")
            value = json_of(text)
            if not isinstance(value, dict):
                unreadable["unreadable"] += 1
            elif value.get("type") == "leaf":
                unreadable["leaf"] += 1
                target = text_at(value, "targetId")
                self._moved[text_at(value, "id") or ""] = self._moved.get(target or "", target)
            else:
                lines.write(dump_line(self._as_pi(value)).encode())

    def _as_pi(self, value: dict[str, Any]) -> dict[str, Any]:
        kind = value.get("type")
        if kind == "custom" and str(value.get("customType")).startswith(_OWN):
            value = {key: each for key, each in value.items() if key != "data"}
        if kind == "reset":
            value = {**value, "type": "compaction", "summary": "", "tokensBefore": 0}
        message = value.get("message")
        if isinstance(message, dict) and message.get("role") == "toolResult":
            value = {**value, "message": _with_outcome(message)}
        if kind == "message" and isinstance(message, dict) and not self._is_of_its_role(message):
            value = {key: each for key, each in value.items() if key != "message"}
            content = {"content": message.get("content"), "display": False}
            value |= {"type": "custom_message", "customType": HARNESS_TYPE, **content}
        return {**value, **dict(self._resolved(value))}

    def _is_of_its_role(self, message: dict[str, Any]) -> bool:
        """Whether it is no message that another session or OpenClaw sent with the role of the user."""
        kind = object_at(message, "provenance").get("kind")
        is_of_user = kind == "external_user" or (kind is None and not self._of_sub_agent)
        return is_of_user or message.get("role") != "user"

    def _resolved(self, value: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
        """References to records that moved the leaf, as references to where they moved it."""
        for name in ("parentId", "firstKeptEntryId"):
            if text_at(value, name) in self._moved:
                yield name, self._moved[value[name]]


def _with_outcome(result: dict[str, Any]) -> dict[str, Any]:
    """A command that failed is no error to OpenClaw; its details repeat the output."""
    details = result.get("details")
    if not isinstance(details, dict):
        return result
    code = details.get("exitCode")
    failed = result.get("isError") is True or (type(code) is int and code != 0)
    details = {key: each for key, each in details.items() if key != "aggregated"}
    return {**result, "isError": failed, "details": details}


def _unpacked(packed: object) -> str:
    if not isinstance(packed, bytes):
        return ""
    decompressor = zstd.ZstdDecompressor()
    try:
        raw = decompressor.decompress(packed, max_length=_MAX_BYTES)
        return raw.decode() if decompressor.eof else ""
    except (zstd.ZstdError, UnicodeDecodeError):
        return ""
