"""Whatever a stored conversation holds: its turn goes on in the window it is given, or reports why not.

No model helps. The client's own model is one that refuses what does not fit, by the count of the settings.
"""

from typing import Any

import pytest
from conftest_service import Client, assistant, tool, user
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.slow

SETTINGS = {"tokens": {"counter": "estimate"}, "summarizer": {"provider": "offline"}}
TEXT = "A line of the file, and what it means.\n" * 4_000
TOO_LONG = {"message": "The input is too long.", "code": "context_length_exceeded"}
MOST_TRIES = 5

kinds = st.sampled_from(["user", "reply", "tool", "tool", "tools"])
chars = st.one_of(st.integers(1, 2_000), st.integers(1, 24_000), st.integers(1, 120_000))
steps = st.lists(st.tuples(kinds, chars), min_size=2, max_size=14)


def entries_of(history: list[tuple[str, int]]) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = [user("Begin.")]
    for number, (kind, size) in enumerate(history):
        text = TEXT[:size]
        match kind:
            case "user":
                entries.append(user(text))
            case "reply":
                entries.append(assistant(text))
            case "tool":
                entries += tool(f"c{number}", "read", {"path": f"src/{number}.py"}, text)
            case _:
                pairs = [tool(f"c{number}.{n}", "bash", {"n": n}, text[n::3]) for n in range(3)]
                calls = [call["message"]["content"][0] for call, _ in pairs]
                entries.append(assistant("", content=calls, stopReason="toolUse"))
                entries += [result for _, result in pairs]
    return entries


@pytest.mark.timeout(400)
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    history=steps,
    window=st.one_of(st.just(4_000), st.integers(4_000, 30_000)),
    is_prepared=st.booleans(),
)
async def test_its_turn_goes_on_or_reports_why_not(
    client: Client, history: list[tuple[str, int]], window: int, *, is_prepared: bool
) -> None:
    await client.service.set_client_settings({**SETTINGS, "model": {"contextWindow": window}})
    made = await client.conversation()
    await client.ask("append", conversationId=made, entries=entries_of(history))
    before = await client.ask("entries", conversationId=made, limit=1000)
    if is_prepared:
        prepared = await client.ask("preparePrompt", conversationId=made, prompt="Go on.")
        assert prepared["compacted"] or "message" in prepared or not prepared["usage"]["shouldCompact"]
    for _ in range(MOST_TRIES):
        size = (await client.ask("usage", conversationId=made))["tokens"]
        if size < window:
            break
        done = await client.ask("recover", conversationId=made, error=TOO_LONG)
        event(f"{done['action']} {done.get('strategy', '')}")
        if done["action"] == "fail":
            assert "What has to stay takes" in done["message"]
            break
        assert (await client.ask("usage", conversationId=made))["tokens"] < window
    else:
        pytest.fail("it is tried again and again")
    first = before["entries"][-1]["id"]
    still = await client.ask("entries", conversationId=made, leafId=first, limit=1000)
    assert still == before
