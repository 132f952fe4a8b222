"""Copilot CLI's sessions: a file of events each, into which the session's sub-agents write, too."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from typing_extensions import override

from coppice.formats.copilot import AGENT_ID, STARTED
from coppice.formats.lines import MAX_LINE_BYTES, UnusableLineError, object_at, parse_object, text_at, type_of
from coppice.formats.source import Source
from coppice.sources.agent import Transcript
from coppice.sources.files import FileAgent

_MOST: Final = 1_000
"""Sub-agents of a session. Each is a conversation; a hostile file could start any number."""
_AGENT: Final = re.compile(rb'"agentId"\s{0,9}:\s{0,9}"(%b)"' % AGENT_ID.pattern.encode())


@dataclass(frozen=True)
class CopilotAgent(FileAgent):
    """Its sub-agents are parts of the session's file, from the event that starts them to their last one."""

    @override
    def parts(self, transcript: Transcript) -> Iterator[Transcript]:
        file_id = transcript.stamp.rpartition(":")[2]
        started: dict[str, Transcript] = {}
        begins: dict[str, int] = {}
        ends: dict[str, int] = {}
        offset = 0
        with Source(Path(transcript.path)).open() as file:
            for raw in iter(partial(file.readline, MAX_LINE_BYTES), b""):
                agents = [each.decode() for each in _AGENT.findall(raw)]
                agent, parent = _started_in(raw) if agents else (None, None)
                if agent is not None and agent in agents and agent not in started and len(started) < _MOST:
                    above = started.get(parent or "", transcript).key
                    key = f"{transcript.key}/{agent}"
                    started[agent] = replace(transcript, key=key, part=agent, parent=above)
                    begins[agent] = offset
                offset += len(raw)
                ends |= {each: offset for each in agents if each in started}
        for agent, part in started.items():
            yield replace(part, stamp=f"{ends[agent]}:{file_id}", size=ends[agent] - begins[agent])


def _started_in(raw: bytes) -> tuple[str | None, str | None]:
    """The sub-agent that is started in a line, and the one that starts it if that is not the session."""
    if STARTED.encode() not in raw:
        return None, None
    try:
        value, _ = parse_object(raw)
    except UnusableLineError:
        return None, None
    parent = text_at(object_at(value, "data"), "parentId")
    return (text_at(value, "agentId"), parent) if type_of(value) == STARTED else (None, None)
