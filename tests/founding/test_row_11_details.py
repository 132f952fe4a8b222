"""The `details` of a hook may be any JSON, and are kept together with the file lists."""

from typing import Any

import pytest
from conftest_service import MakeClient
from service.hook_kit import entries, grown, with_editor


@pytest.mark.parametrize("details", [["a", 1], "a note", 7, True, [{"deep": [None]}]])
async def test_details_of_a_hook_may_be_any_json(make_client: MakeClient, details: Any) -> None:
    answer = {"compaction": {"summary": "## Goal\nThe parts.", "details": details}}
    client, _ = await with_editor(make_client, answer)
    made = await grown(client)
    done = await client.ask("compact", conversationId=made)
    stored = done["entry"]["details"]
    assert stored["hookDetails"] == details
    assert stored["modifiedFiles"] == ["src/b.py"]
    assert stored["readFiles"] == ["src/a.py"]


async def test_an_object_s_properties_are_next_to_the_file_lists_and_never_replace_them(
    make_client: MakeClient,
) -> None:
    details = {"ticket": {"id": 7}, "modifiedFiles": "none"}
    client, _ = await with_editor(
        make_client, {"compaction": {"summary": "## Goal\nThe parts.", "details": details}}
    )
    made = await grown(client)
    stored = (await client.ask("compact", conversationId=made))["entry"]["details"]
    assert (stored["ticket"], stored["modifiedFiles"]) == ({"id": 7}, ["src/b.py"])


@pytest.mark.parametrize("details", [[1, 2], {"ticket": 7}])
async def test_details_of_a_branch_summary_are_kept_too(make_client: MakeClient, details: Any) -> None:
    client, _ = await with_editor(make_client, {"summary": {"summary": "Left.", "details": details}})
    made = await grown(client)
    path = await entries(client, made)
    done = await client.ask("navigate", conversationId=made, targetId=path[6]["id"], summarize=True)
    stored = done["summaryEntry"]["details"]
    assert stored.get("hookDetails", stored.get("ticket")) == (details if isinstance(details, list) else 7)
    assert "readFiles" in stored
