"""A hit on a call has the beginning of the call's result."""

from pathlib import Path

from mcp_server.conftest import Start, assistant, result, stored


def test_a_hit_on_a_call_shows_its_results(start: Start, folder: Path) -> None:
    stored(
        folder,
        [
            assistant(
                "calls-1",
                "",
                ("c1", "Bash", {"command": "make juniper"}),
                ("c2", "Read", {"path": "yew.txt"}),
            ),
            result("calls-2", "c2", "the yew is old", tool="Read"),
            result("calls-3", "c1", "2 warnings\n" * 60 + "exit 3", failed=True),
        ],
    )
    client = start()
    text = client.call("history_search", query="juniper")
    assert "\n→ (failed) 2 warnings 2 warnings" in text
    assert "\n→ the yew is old\n</history-entry>" in text
    assert "exit 3" not in text
    assert "calls-2" not in text
    assert "\n1 relevant place in" in text
    assert "→" not in client.call("history_search", query="juniper", role="assistant")
    both = client.call("history_search", query="juniper yew old")
    assert 'id="calls-2"' in both
    assert "→ the yew" not in both


def test_results_of_these_tools_and_secrets_are_not_among_them(start: Start, folder: Path) -> None:
    key = "ghp_" + "a1B2" * 9
    stored(
        folder,
        [
            assistant("calls-1", "", ("c1", "history_search", {"query": "the juniper"})),
            result("calls-2", "c1", "It grows at the gate.", tool="history_search"),
            assistant("calls-3", "", ("c2", "Bash", {"command": "cat juniper.env"})),
            result("calls-4", "c2", f"{'x' * 40} {key}"),
        ],
    )
    text = start().call("history_search", query="juniper")
    assert "at the gate" not in text
    assert "→ xxx" in text
    assert "ghp_" not in text
