"""A chat panel: an editor that sends prompts, runs tools and follows a turn, and its server's model."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from lsp.editor import NO_PROGRESS, Editor, editing
from lsprotocol import types
from models.provider_server import ProviderServer, Reply
from models.provider_window import ScriptedReply, Windowed
from pygls.exceptions import JsonRpcException
from summarizers.asking import Provider

RunTool = Callable[[dict[str, Any]], Awaitable[Any]]
"""Runs a tool with its arguments: the result of `coppice/invokeTool`, or a text that it gives."""

WINDOW = 8_000
PARTS = "parts"
PROMPT_ID = "prompt"
READ: dict[str, Any] = {"name": "read", "description": "Reads a file.", "inputSchema": {"type": "object"}}
WRITE = {**READ, "name": "write", "description": "Writes a file."}
NOTIFIED = {
    "coppice/compactionStarted": lambda params: f"started: {params['reason']}",
    "coppice/compactionEnded": lambda params: f"ended: {params['status']}",
}


@dataclass
class Panel:
    """`parts` are the values of the partial results; `line` is everything received, in order, in short.

    Pieces of text that follow each other are one.
    """

    editor: Editor
    provider: ProviderServer
    model: Windowed
    tools: Mapping[str, RunTool]
    about: dict[str, Any] = field(default_factory=dict)
    parts: list[dict[str, Any]] = field(default_factory=list)
    line: list[str] = field(default_factory=list)
    invoked: list[dict[str, Any]] = field(default_factory=list)

    async def begin(self) -> None:
        made = await self.editor.ask("coppice/conversation/create", {})
        self.about = {"conversationId": made["conversation"]["id"]}

    def start(self, content: Any, request_id: str = PROMPT_ID, **more: Any) -> "asyncio.Task[Any]":
        params = {**self.about, "content": content, "partialResultToken": PARTS, **more}
        asked = self.editor.ask("coppice/prompt", params, request_id=request_id)
        return asyncio.create_task(asked)

    async def prompt(self, content: Any, **more: Any) -> Any:
        return await self.start(content, **more)

    async def ask(self, method: str, **params: Any) -> Any:
        return await self.editor.ask(f"coppice/{method}", {**self.about, **params})

    async def append_turns(self, tokens: int) -> None:
        """Appends questions and answers of about that size together."""
        entries = []
        for number in range(tokens // 192):
            question = {"role": "user", "content": f"Part {number}. " + "It must stay small and fast. " * 13}
            reply = {"role": "assistant", "content": [{"type": "text", "text": "It is so. " * 38}]}
            entries += [{"type": "message", "message": message} for message in (question, reply)]
        await self.ask("append", entries=entries)

    async def messages(self) -> list[dict[str, Any]]:
        """The messages on the path, oldest first."""
        entries = await self.editor.entries(self.about["conversationId"])
        return [entry["message"] for entry in entries if entry["type"] == "message"]

    async def roles(self) -> list[str]:
        return [message["role"] for message in await self.messages()]

    def on_progress(self, params: types.ProgressParams) -> None:
        if params.token == PARTS:
            value: Any = params.value
            self.parts.append(value)
            self._note(_short(value))
        else:
            self.editor.progress(params.token).append(params.value)

    def on_notification(self, method: str, params: Any) -> None:
        if method in NOTIFIED:
            self._note(NOTIFIED[method](params))

    async def invoke(self, params: Any) -> Any:
        self.invoked.append(params)
        self._note(f"invoke {params['name']}")
        given = await self.tools[params["name"]](params["arguments"])
        return {"content": [{"type": "text", "text": given}]} if isinstance(given, str) else given

    def _note(self, event: str) -> None:
        if not (event in ("text", "thinking") and self.line[-1:] == [event]):
            self.line.append(event)


def _short(value: dict[str, Any]) -> str:
    match value["kind"]:
        case "message":
            message = value["message"]
            failed = message.get("stopReason") in ("error", "aborted")
            return f"{message['role']}{' ' + message['stopReason'] if failed else ''}"
        case "compaction":
            return f"compaction {value['status']}"
        case "retry":
            return f"retry {value['attempt']} {value['strategy']}"
        case "toolCall":
            return f"call {value['name']}"
        case kind:
            return str(kind)


async def refused(running: "asyncio.Task[Any]") -> dict[str, Any]:
    """The data of the error -32803 that a request ends with, and its message."""
    with pytest.raises(JsonRpcException) as failure:
        await running
    assert failure.value.code == -32803, failure.value
    return {"message": failure.value.message, **(failure.value.data or {})}


def settings_for(provider: Provider, url: str, **compaction: Any) -> dict[str, Any]:
    return {
        "model": {"provider": provider, "name": "m", "baseUrl": url, "contextWindow": WINDOW},
        "summarizer": {"provider": "offline"},
        "tokens": {"counter": "estimate"},
        "compaction": {"reserveTokens": 1000, "keepRecentTokens": 1000, **compaction},
    }


@asynccontextmanager
async def chatting(
    directory: Path,
    *replies: Reply | ScriptedReply,
    provider: Provider = "openai",
    tools: Mapping[str, RunTool] | None = None,
    compaction: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
    sample: RunTool | None = None,
    is_silent: bool = False,
    capabilities: types.ClientCapabilities = NO_PROGRESS,
) -> AsyncIterator[Panel]:
    """A panel in a conversation of its own; its model answers with `replies` in a window of 8,000 tokens.

    With `sample` the editor answers in its place, if the settings say so. Summaries wait at the editor's
    gate, which is open to begin with.
    """
    model = Windowed(WINDOW, replies, is_silent)
    async with ProviderServer([model]) as server:
        chosen = settings or settings_for(provider, server.url, **(compaction or {}))
        running: list[Panel] = []

        def on_progress(params: types.ProgressParams) -> None:
            running[0].on_progress(params)

        async def invoke(params: Any) -> Any:
            return await running[0].invoke(params)

        features: dict[str, Any] = {types.PROGRESS: on_progress, "coppice/invokeTool": invoke}
        if sample is not None:
            features["coppice/sample"] = sample
        offers = {"tools": tools is not None, "sampling": sample is not None}
        async with editing(
            directory, capabilities, features=features, settings=chosen, offers=offers
        ) as editor:
            panel = Panel(editor, server, model, tools or {})
            running.append(panel)
            editor.on_notification = panel.on_notification
            editor.open_gate()
            await panel.begin()
            yield panel
