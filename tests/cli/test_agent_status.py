"""`coppice status` shows the agents, whatever their files are like."""

import pytest
from cli.conftest import Coppice

from coppice.service.conversations.following import Following
from coppice.service.conversations.looking import FollowedTranscript
from coppice.sources.registry import AGENTS
from coppice.store.transcript_catalog import Reading


def test_the_status_is_shown_where_a_transcript_is_of_a_time_beyond_the_calendar(
    coppice: Coppice, monkeypatch: pytest.MonkeyPatch
) -> None:
    [pi] = (agent for agent in AGENTS if agent.name == "pi")

    async def transcripts(_: object) -> list[FollowedTranscript]:
        return [FollowedTranscript(pi, Reading("pi", "a", "a.jsonl", modified=2.0**50), None)]

    monkeypatch.setattr(Following, "transcripts", transcripts)
    assert "; last seen never; 1 transcript" in coppice("status").out
