"""The official client library, in each revision that it speaks and the server serves.

It begins a handshake with the newest revision that has one; what it asks for is set to an older one here.
"""

import os
import sys
from pathlib import Path

import pytest
from mcp.client import session
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import TextContent

COMMAND = str(Path(sys.executable).with_name("coppice"))


@pytest.mark.parametrize(
    ("mode", "revision"),
    [
        ("legacy", "2025-06-18"),
        ("legacy", "2025-11-25"),
        ("auto", "2026-07-28"),
        ("2026-07-28", "2026-07-28"),
    ],
)
async def test_it_lists_and_calls_the_tools(
    sessions: Path, monkeypatch: pytest.MonkeyPatch, mode: str, revision: str
) -> None:
    if mode == "legacy":
        monkeypatch.setattr(session, "LATEST_HANDSHAKE_VERSION", revision)
    places = {name: value for name, value in os.environ.items() if name.startswith("COPPICE_")}
    server = StdioServerParameters(command=COMMAND, args=["mcp"], env=places, cwd=sessions)
    async with Client(stdio_client(server), mode=mode) as client:
        assert client.protocol_version == revision
        assert len((await client.list_tools()).tools) == 5
        answer = await client.call_tool("history_search", {"query": "Why did the login test divide by zero?"})
        [block] = answer.content
        assert isinstance(block, TextContent)
        assert "empty basket" in block.text
        assert answer.structured_content is None
        refused = await client.call_tool("history_search", {"query": "x", "scope": "universe"})
        assert refused.is_error
