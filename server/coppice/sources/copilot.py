"""Copilot CLI's sessions: a file of events each, into which the session's sub-agents write, too."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from typing_extensions import override

from coppice.formats.copilot import AGENT_ID, STARTED
from coppice.formats.lines import UnusableLineError, object_at, parse_object, raw_lines, text_at, type_of
from coppice.formats.session import check_number_of_entries
from coppice.formats.source import OnRead, Source
from coppice.formats.warning_log import WarningLog
from coppice.sources.agent import Transcript
from coppice.sources.files import FileAgent

_MOST: Final = 1_000
"""Sub-agents of a session. Each is a conversation; a hostile file could start any number."""
_AGENT: Final = re.compile(rb'"agentId"\s{0,9}:\s{0,9}"(%b)"' % AGENT_ID.pattern.encode())


@dataclass
class _Part:
    """`key` is that of its transcript, `parent` that of what started it; `end` is after its last line."""

    key: str
    parent: str
    places: list[tuple[int, int]] = field(default_factory=list)
    size: int = 0
    end: int = 0


@dataclass(frozen=True)
class CopilotAgent(FileAgent):
    """Its sub-agents are parts of the session's file, from the event that starts them to their last one."""

    @override
    def parts(self, transcript: Transcript, on_read: OnRead) -> Iterator[Transcript]:
        parts: dict[str, _Part] = {}
        count = 0
        with Source(Path(transcript.path), on_read).open() as file:
            for number, offset, raw in raw_lines(file, WarningLog()):
                agent, value = _author(raw)
                if agent is None:
                    continue
                if type_of(value) == STARTED and agent not in parts and len(parts) < _MOST:
                    above = parts.get(text_at(object_at(value, "data"), "parentId") or "")
                    parent = transcript.key if above is None else above.key
                    parts[agent] = _Part(f"{transcript.key}/{agent}", parent)
                if agent in parts:
                    count += 1
                    check_number_of_entries(count)
                    part = parts[agent]
                    part.places.append((number, offset))
                    part.size += len(raw)
                    part.end = offset + len(raw)
        file_id = transcript.stamp.rpartition(":")[2]
        for agent, part in parts.items():
            yield replace(
                transcript,
                key=part.key,
                stamp=f"{part.end}:{file_id}",
                size=part.size,
                parent=part.parent,
                part=agent,
                places=part.places,
            )


def _author(raw: bytes) -> tuple[str | None, dict[str, Any]]:
    """The sub-agent that a line can be of, and the line's object where it may start one or names several."""
    names = {each.decode() for each in _AGENT.findall(raw)}
    if len(names) == 1 and STARTED.encode() not in raw:
        return names.pop(), {}
    if not names:
        return None, {}
    try:
        value, _ = parse_object(raw)
    except UnusableLineError:
        return None, {}
    agent = text_at(value, "agentId")
    return (agent if agent in names else None), value
