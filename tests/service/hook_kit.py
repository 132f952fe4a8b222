"""Hooks with scripted answers, and a conversation for them to be asked about."""

import asyncio
from typing import Any

from conftest_service import Client, MakeClient, tool, turns, user

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.hooks import WillCompactParams, WillForkParams, WillNavigateParams, hookimpl
from coppice.protocol.base import WireModel
from coppice.protocol.server_requests import WILL_COMPACT, WILL_FORK, WILL_NAVIGATE
from coppice.service.hooks.plugins import Plugins
from coppice.summarizers.offline import OfflineSummarizer

SETTINGS = {
    "compaction": {"keepRecentTokens": 500},
    "tokens": {"counter": "estimate"},
    "hooks": {"timeoutSeconds": 100},
    "summarizer": {"provider": "offline"},
}
IMPATIENT = {**SETTINGS, "hooks": {"timeoutSeconds": 0.5}}
"""For hooks that never answer: on a busy machine any other may be late, too."""

SUMMARY = "The parts are written; part 12 is next."
HOOKS = frozenset({WILL_COMPACT, WILL_NAVIGATE, WILL_FORK})


class Extension:
    """Answers every question alike, and remembers what it was asked."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer
        self.asked: list[Any] = []

    def _answer(self, params: object) -> Any:
        self.asked.append(params)
        return self.answer() if callable(self.answer) else self.answer

    @hookimpl
    def will_compact(self, params: WillCompactParams) -> Any:
        return self._answer(params)

    @hookimpl
    async def will_navigate(self, params: WillNavigateParams) -> Any:
        return self._answer(params)

    @hookimpl
    def will_fork(self, params: WillForkParams) -> Any:
        return self._answer(params)


class Editor:
    """A client that answers every question alike."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.was_asked = asyncio.Event()

    async def ask(self, method: str, params: WireModel) -> Any:
        self.asked.append((method, params.model_dump(mode="json", by_alias=True)))
        self.was_asked.set()
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer == "silence":
            await asyncio.Event().wait()
        return self.answer


def extended(*answers: Any) -> tuple[Plugins, list[Extension]]:
    plugins, extensions = Plugins(), [Extension(answer) for answer in answers]
    for number, extension in enumerate(extensions):
        plugins.register(f"ext{number}", extension)
    return plugins, extensions


async def with_editor(
    make_client: MakeClient, answer: Any, *extensions: Any, **settings: Any
) -> tuple[Client, Editor]:
    client: Client = await make_client({**SETTINGS, **settings}, None, extended(*extensions)[0])
    editor = Editor(answer)
    client.port.answer(editor.ask, *HOOKS)
    return client, editor


async def grown(client: Client) -> str:
    made = await client.conversation()
    messages = [
        each
        for part in range(12)
        for each in turns(f"Write part {part}. " * 20, f"Part {part} is written. " * 20)
    ]
    begun = [user("Begin.")]
    reading = tool("r", "read", {"path": "src/a.py"}, "x = 1\n" * 100)
    writing = tool("w", "write", {"path": "src/b.py", "content": "y"}, "ok")
    await client.ask("append", conversationId=made, entries=[*begun, *reading, *writing, *messages])
    return made


async def entries(client: Client, conversation: str) -> list[Any]:
    return list((await client.ask("entries", conversationId=conversation, limit=1000))["entries"])


class Listening:
    """A summarizer that remembers its instructions."""

    def __init__(self) -> None:
        self.instructions: list[str | None] = []

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        self.instructions.append(request.instructions)
        return await OfflineSummarizer().summarize(request)
