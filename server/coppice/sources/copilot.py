"""Copilot CLI's sessions: a file of events each, into which the session's sub-agents write, too."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from typing_extensions import override

from coppice.formats.copilot import STARTED
from coppice.formats.lines import MAX_LINE_BYTES, UnusableLineError, object_at, parse_object, text_at, type_of
from coppice.formats.source import Source
from coppice.sources.agent import Transcript
from coppice.sources.files import FileAgent

_MOST: Final = 1_000
"""Sub-agents of a session. Each is a conversation; a hostile file could start any number."""
_AGENT: Final = re.compile(rb'"agentId"\s{0,9}:\s{0,9}"([\w-]{1,100})"')


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
                if agents and STARTED.encode() in raw:
                    for part in _started_in(raw, transcript):
                        if len(started) < _MOST:
                            started.setdefault(part.key, part)
                            begins.setdefault(part.key, offset)
                offset += len(raw)
                ends |= dict.fromkeys(agents, offset)
        for key, part in started.items():
            end = ends[part.part or ""]
            yield replace(part, stamp=f"{end}:{file_id}", size=end - begins[key])


def _started_in(raw: bytes, transcript: Transcript) -> Iterator[Transcript]:
    """The sub-agent that is started in a line. One that another sub-agent starts names that as its parent."""
    try:
        value, _ = parse_object(raw)
    except UnusableLineError:
        return
    agent_id = text_at(value, "agentId")
    if type_of(value) != STARTED or agent_id is None or not _AGENT.search(f'"agentId":"{agent_id}"'.encode()):
        return
    parent = text_at(object_at(value, "data"), "parentId")
    session = transcript.key
    yield replace(
        transcript,
        key=f"{session}/{agent_id}",
        part=agent_id,
        parent=session if parent is None else f"{session}/{parent}",
    )
