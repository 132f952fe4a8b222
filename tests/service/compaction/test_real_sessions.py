"""Real sessions: the figures that Pi 0.73.1 gives for the same files, and what compacting leaves of them."""

from pathlib import Path
from typing import Any

import pytest
from conftest_service import Client, MakeClient
from shared_data import shared_data

from coppice.errors import NothingToCompactError

ESTIMATE = {"tokens": {"counter": "estimate"}}
NOTHING = None


async def imported(client: Client, name: str) -> tuple[str, list[dict[str, Any]]]:
    file: Path = shared_data() / name
    result = await client.ask("conversation/import", uri=file.as_uri())
    conversation = result["conversation"]["id"]
    path: list[dict[str, Any]] = []
    after = None
    while True:
        page = await client.ask("entries", conversationId=conversation, after=after, limit=1000)
        path += page["entries"]
        after = page.get("nextAfter")
        if after is None:
            return conversation, path


@pytest.mark.parametrize(
    ("leaf", "expected"),
    [
        (200, (133, 86, 43, True, 134_346)),
        (357, (259, 190, 65, True, 175_004)),
        (358, NOTHING),
        (400, (384, 80, 11, True, 77_195)),
        (500, (465, 165, 7, True, 148_724)),
        (626, (533, 229, 11, True, 185_014)),
        (627, NOTHING),
        (640, NOTHING),
        (800, (777, 218, 3, True, 125_483)),
        # Pi counts a failed reply in the kept part, which no view holds: its cut is (946, 383, 7).
        (1001, (942, 383, 3, True, 180_820)),
    ],
)
async def test_the_cut_is_the_one_that_pi_makes(
    make_client: MakeClient, leaf: int, expected: tuple[int, int, int, bool, int] | None
) -> None:
    client = await make_client(ESTIMATE)
    conversation, path = await imported(client, "pi-session.jsonl")
    about = {"conversationId": conversation, "leafId": path[leaf]["id"]}
    if expected is None:
        with pytest.raises(NothingToCompactError):
            await client.ask("compactPreview", **about)
        return
    preview = await client.ask("compactPreview", **about)
    first_kept = next(index for index, entry in enumerate(path) if entry["id"] == preview["firstKeptEntryId"])
    assert (
        first_kept,
        preview["messagesToSummarize"],
        preview["turnPrefixMessages"],
        preview["isSplitTurn"],
        preview["tokensBefore"],
    ) == expected


@pytest.mark.parametrize(
    "name", ["pi-session.jsonl", "claude-code-session-1.jsonl", "claude-code-session-2.jsonl"]
)
async def test_a_real_session_is_smaller_after_compacting_and_its_files_are_all_named(
    make_client: MakeClient, name: str
) -> None:
    client = await make_client()
    conversation, _ = await imported(client, name)
    files = await client.ask("files", conversationId=conversation)
    done = await client.ask("compact", conversationId=conversation)
    view = await client.ask("context", conversationId=conversation)
    assert view["tokens"] == done["tokensAfter"] < done["tokensBefore"]
    assert done["summarizer"] == "offline"
    assert "## Goal" in done["entry"]["summary"]
    assert files == await client.ask("files", conversationId=conversation)
    assert set(done["entry"]["details"]["modifiedFiles"]) <= set(files["modifiedFiles"])
