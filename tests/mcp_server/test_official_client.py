"""The official client library, in the handshake revision and in the one without."""

import os
import sys
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import TextContent

COMMAND = str(Path(sys.executable).with_name("coppice"))


@pytest.mark.parametrize(
    ("mode", "revision"), [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")]
)
async def test_it_lists_and_calls_the_tools(sessions: Path, mode: str, revision: str) -> None:
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
