"""What reads a long conversation shows how far it is: the percentages rise with what is read."""

from itertools import pairwise
from typing import Any

import pytest
from conftest_service import Client, user

from coppice.service.core import conversation_path
from coppice.service.core.progress import NoProgress

ENTRIES = 200
PIECES = 20


class Watching(NoProgress):
    def __init__(self) -> None:
        self.percentages: list[int] = []

    def report(self, stage: str, percentage: int) -> None:
        if stage == "Reading the files":
            self.percentages.append(percentage)


@pytest.mark.parametrize("method", ["ledger", "compactPreview"])
async def test_progress_rises_with_what_is_read(
    client: Client, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    about: dict[str, Any] = {"conversationId": await client.conversation()}
    if method == "compactPreview":
        about["settings"] = {"compaction": {"keepRecentTokens": 1}}
    entries = [user(f"rowan {number}") for number in range(ENTRIES)]
    await client.ask("append", conversationId=about["conversationId"], entries=entries)
    monkeypatch.setattr(conversation_path, "_A_PIECE", ENTRIES // PIECES)
    progress = Watching()
    await client.call(method, progress, **about)
    seen = progress.percentages
    assert len(seen) >= PIECES - 1
    assert all(before < after for before, after in pairwise(seen))
    assert seen[0] <= 50
    assert 90 <= seen[-1] <= 100
