"""What a turn still has of the beginning of a conversation that was compacted since."""

from pathlib import Path
from typing import Any

from conftest_service import Client, MakeClient
from models.provider_server import ProviderServer
from models.provider_window import ScriptedReply, Windowed

from coppice.protocol.base import WireModel
from coppice.protocol.history import SEARCH_TOOL
from coppice.protocol.server_requests import INVOKE_TOOL

WINDOW = 20_000
NOTE = "Releases are cut on Tuesdays, never before noon."
ERROR = "gate.py:41: ZeroDivisionError: 1600 larches over 0 gates (0x7f3a)"
PLAN = "PLAN = 'water the larch'\n"
TALK = "It opens the gate and counts the larches. " * 100  # 1,050 tokens
MOST_TURNS = 40
TOOLS = [
    {"name": name, "description": "A tool.", "inputSchema": {"type": "object"}} for name in ("bash", "write")
]


async def runs_tools(_method: str, params: WireModel) -> Any:
    called = params.model_dump(by_alias=True)
    failing = called["arguments"].get("command") == "make gate"
    text = f"make: *** [gate] Error 2\n{ERROR}" if failing else "ok"
    return {"content": [{"type": "text", "text": text}], "isError": failing}


def calls(name: str, **arguments: str) -> Windowed:
    """A reply that calls a tool, and one that says what came of it."""
    return Windowed(WINDOW, [ScriptedReply("", calls=[("c", name, arguments)]), ScriptedReply("So it is.")])


async def test_the_note_the_file_and_the_exact_error_of_the_beginning(
    make_client: MakeClient, tmp_path: Path
) -> None:
    async with ProviderServer() as server:
        client: Client = await make_client(
            {
                "model": {"provider": "openai", "name": "m", "baseUrl": server.url, "contextWindow": WINDOW},
                "summarizer": {"provider": "offline"},
                "tokens": {"counter": "estimate"},
                "compaction": {"keepRecentTokens": 2_000},
            }
        )
        client.port.answer(runs_tools, INVOKE_TOOL)
        (tmp_path / "workspace" / "plan.py").write_text(PLAN)
        about = {"conversationId": await client.conversation(), "tools": TOOLS}

        async def prompted(content: str, reply: Windowed) -> Any:
            server.script[:] = [reply]
            return await client.ask("prompt", **about, content=content)

        await client.ask("note/add", text=NOTE)
        await prompted("Open the gate.", calls("bash", command="make gate"))
        await prompted("Once more.", calls("bash", command="make all"))
        await prompted("Write the plan.", calls("write", path="plan.py", content=PLAN))
        turns = 0
        while not (await prompted("Go on.", Windowed(WINDOW, [ScriptedReply(TALK)])))["compactions"]:
            turns += 1
            assert turns < MOST_TURNS
        await prompted("What failed?", calls(SEARCH_TOOL, query="Which error did make gate end with?"))
        *_, asking, answered = [request.body["messages"] for request in server.requests]
    sent = "\n".join(str(message["content"]) for message in asking)
    assert f"\n{NOTE}\n</history-note>" in sent
    assert f"\n{PLAN}\n</file-at-hand>" in sent
    assert ERROR not in sent
    assert ERROR in answered[-1]["content"]
