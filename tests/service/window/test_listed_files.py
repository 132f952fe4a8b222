"""Of any number of files a preview, the ledger and a report list the first, and count the others."""

from itertools import chain
from typing import Any

import pytest
from conftest_service import Client, tool, user

from coppice.service.core import listed_files
from coppice.store.tree import paging

PATHS = 30
LISTED = 12
LONGEST = "x" * 90


async def worked(client: Client) -> dict[str, Any]:
    """A conversation that read PATHS files, wrote one, and can be compacted."""
    about = {"conversationId": await client.conversation()}
    calls = [tool(f"c{number}", "read", {"path": f"{LONGEST}/{number:02}"}, "ok") for number in range(PATHS)]
    written = tool("w", "write", {"path": "notes.md", "content": "x"}, "ok")
    entries = [user("Go."), *written, *chain.from_iterable(calls), user("On."), user("Done?")]
    await client.ask("append", **about, entries=entries)
    return about


def asked(client: Client, method: str, about: dict[str, Any]) -> Any:
    settings = {"settings": {"compaction": {"keepRecentTokens": 1}}} if method == "compactPreview" else {}
    return client.ask(method, **about, **settings)


@pytest.mark.parametrize("method", ["ledger", "compactPreview"])
async def test_the_first_files_are_listed_and_the_others_counted(
    client: Client, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    about = await worked(client)
    whole = await asked(client, method, about)
    assert len(whole["readFiles"]) == PATHS
    assert "filesLeftOut" not in whole
    monkeypatch.setattr(listed_files, "MOST_FILES", LISTED)
    part = await asked(client, method, about)
    assert part["readFiles"] == whole["readFiles"][:LISTED]
    assert part["modifiedFiles"] == ["notes.md"]
    assert part["filesLeftOut"] == PATHS - LISTED


@pytest.mark.parametrize("method", ["ledger", "compactPreview"])
async def test_long_paths_fit_a_page(client: Client, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    about = await worked(client)
    monkeypatch.setattr(paging, "PAGE_CHARS", 10 * len(LONGEST))
    part = await asked(client, method, about)
    assert 0 < sum(map(len, part["readFiles"])) <= 10 * len(LONGEST)
    assert len(part["readFiles"]) + part["filesLeftOut"] == PATHS


async def test_a_report_lists_the_first_files_that_the_summary_does_not_name(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = await worked(client)
    params = {**about, "draft": True, "settings": {"compaction": {"keepRecentTokens": 1}}}
    whole = (await client.ask("compact", **params))["report"]
    assert len(whole["files"]) > 1
    assert "filesLeftOut" not in whole
    monkeypatch.setattr(listed_files, "MOST_FILES", 1)
    part = (await client.ask("compact", **params))["report"]
    assert part["files"] == whole["files"][:1]
    assert part["filesLeftOut"] == len(whole["files"]) - 1
