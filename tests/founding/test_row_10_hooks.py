"""Hooks are as rich as the documents' own example, in which another model writes every summary."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest_service import Client, MakeClient, tool, turns, user
from lsp.conftest import fresh
from lsp.raw_client import RawServer
from lsp.test_hooks import asked, conversation, hello
from lsp.test_installed_extension import install, packages_of, python
from models.provider_replies import json_body
from models.provider_server import serving
from service.hook_kit import SETTINGS as HOOK_SETTINGS
from service.hook_kit import entries, extended, grown, with_editor
from waiting import PATIENCE, hurry, until

from coppice.hooks import (
    HookCompaction,
    HookContext,
    HookStoppedError,
    WillCompactParams,
    WillCompactResult,
    hookimpl,
)
from coppice.protocol.compaction import CompactResult
from coppice.protocol.server_requests import WILL_COMPACT
from coppice.service.core.progress import NoProgress
from coppice.service.hooks.plugins import Plugins

__all__ = ["fresh", "python"]

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "coppice-second-model"


def plugins_of(*extensions: object) -> Plugins:
    plugins = Plugins()
    for number, extension in enumerate(extensions):
        plugins.register(f"ext{number}", extension)
    return plugins


async def test_will_compact_gets_entries_texts_sizes_and_file_lists_each_apart(
    make_client: MakeClient,
) -> None:
    client, editor = await with_editor(make_client, None)
    made = await client.conversation()
    before = [user("Begin."), *turns(*["Write a part. " * 40] * 10), user("Now the long turn.")]
    output = "x = 1\n" * 120
    steps = [each for step in range(6) for each in tool(f"c{step}", "read", {"path": "a.py"}, output)]
    await client.ask("append", conversationId=made, entries=[*before, *steps])
    await client.ask("compact", conversationId=made)
    preparation = editor.asked[0][1]["preparation"]
    path = await entries(client, made)
    first_kept = next(
        index for index, entry in enumerate(path) if entry["id"] == preparation["firstKeptEntryId"]
    )
    assert preparation["isSplitTurn"] is True
    assert preparation["historyEntries"] + preparation["turnPrefixEntries"] == path[:first_kept]
    assert preparation["turnPrefixEntries"][0]["message"]["content"] == "Now the long turn."
    assert preparation["historyText"].startswith("[User]: Begin.")
    assert preparation["turnPrefixText"].startswith("[User]: Now the long turn.")
    assert "Now the long turn." not in preparation["historyText"]
    assert preparation["readFiles"] == ["a.py"]
    assert preparation["sizes"]["keepRecentTokens"] == 500
    assert 0 < preparation["sizes"]["maxSummaryTokens"] < preparation["tokensBefore"]
    assert "previousSummaryText" not in preparation
    await client.ask("append", conversationId=made, entries=turns(*["More of it. " * 100] * 6))
    await client.ask("compact", conversationId=made)
    again = editor.asked[1][1]["preparation"]
    assert again["previousSummaryText"] == path_summary(await entries(client, made), 0)


def path_summary(path: list[Any], number: int) -> str:
    return str([entry["summary"] for entry in path if entry["type"] == "compaction"][number])


async def test_a_hook_reads_the_branch_s_entries_on_demand(make_client: MakeClient) -> None:
    read: list[str] = []

    class Reading:
        @hookimpl
        def will_compact(self, params: WillCompactParams, context: HookContext) -> None:
            del params
            read.extend(entry.id for entry in context.entries())

    client: Client = await make_client(HOOK_SETTINGS, None, plugins_of(Reading()))
    made = await grown(client)
    path = [entry["id"] for entry in await entries(client, made)]
    await client.ask("compact", conversationId=made)
    assert read == path


async def test_an_extension_s_own_records_are_among_the_entries(make_client: MakeClient) -> None:
    read: list[str] = []

    class Reading:
        @hookimpl
        def will_compact(self, params: WillCompactParams, context: HookContext) -> None:
            del params
            read.extend(entry.type for entry in context.entries())

    client: Client = await make_client(HOOK_SETTINGS, None, plugins_of(Reading()))
    made = await client.conversation()
    note = {"type": "custom", "customType": "my-extension", "data": {"seen": 3}}
    await client.ask("append", conversationId=made, entries=[user("Begin."), note])
    await client.ask("append", conversationId=made, entries=turns(*["Write a part. " * 40] * 12))
    assert (await entries(client, made))[1]["data"] == {"seen": 3}
    await client.ask("compact", conversationId=made)
    assert read.count("custom") == 1


async def test_will_navigate_gets_the_entries_to_summarize(make_client: MakeClient) -> None:
    client, editor = await with_editor(make_client, None)
    made = await grown(client)
    path = await entries(client, made)
    await client.ask("navigate", conversationId=made, targetId=path[6]["id"], summarize=True)
    params = editor.asked[0][1]
    assert params["entries"] == path[7:]
    assert "Part 11 is written." in params["text"]


class Busy:
    """A hook that computes without end, in plain Python or in a coroutine."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.stopped_by: list[type[BaseException]] = []

    def loop(self) -> None:
        try:
            self.begun.set()
            while True:
                sum(range(1_000))
        except BaseException as error:
            self.stopped_by.append(type(error))
            raise

    async def wait(self) -> None:
        try:
            self.begun.set()
            await asyncio.sleep(3_600)
        except BaseException as error:
            self.stopped_by.append(type(error))
            raise


class BusyPlain(Busy):
    @hookimpl
    def will_compact(self, params: WillCompactParams) -> None:
        del params
        self.loop()


class BusyAsync(Busy):
    @hookimpl
    async def will_compact(self, params: WillCompactParams) -> None:
        del params
        await self.wait()


async def ended(thread_name: str) -> None:
    await until(lambda: all(thread.name != thread_name for thread in threading.enumerate()))


@pytest.mark.parametrize(
    ("make_hook", "error"), [(BusyPlain, HookStoppedError), (BusyAsync, asyncio.CancelledError)]
)
async def test_a_python_hook_that_is_late_is_really_stopped(
    make_client: MakeClient, make_hook: type[Busy], error: type[BaseException]
) -> None:
    hook = make_hook()
    client: Client = await make_client(HOOK_SETTINGS, None, plugins_of(hook))
    made = await grown(client)
    compaction = asyncio.create_task(client.ask("compact", conversationId=made))
    assert await asyncio.to_thread(hook.begun.wait, PATIENCE)
    hurry()
    done = await compaction
    assert "within 100 s" in done["warnings"][0]
    await ended("coppice-hook-ext0")
    assert hook.stopped_by == [error]


@pytest.mark.parametrize("make_hook", [BusyPlain, BusyAsync])
async def test_a_python_hook_of_a_cancelled_compaction_is_really_stopped(
    make_client: MakeClient, make_hook: type[Busy]
) -> None:
    hook = make_hook()
    client: Client = await make_client(HOOK_SETTINGS, None, plugins_of(hook))
    made = await grown(client)
    compaction = asyncio.create_task(client.ask("compact", conversationId=made))
    assert await asyncio.to_thread(hook.begun.wait, PATIENCE)
    await client.ask("cancel", conversationId=made)
    with pytest.raises(asyncio.CancelledError):
        await compaction
    await ended("coppice-hook-ext0")
    assert len(hook.stopped_by) == 1


class Watching(NoProgress):
    def __init__(self) -> None:
        self.stages: list[str] = []

    def report(self, stage: str, percentage: int) -> None:
        del percentage
        self.stages.append(stage)


async def test_a_hook_that_asks_a_model_has_the_time_of_its_own_setting_and_progress_names_it(
    make_client: MakeClient,
) -> None:
    loop = asyncio.get_running_loop()

    async def waits_long() -> None:
        hurry()
        await asyncio.sleep(300)

    class Slow:
        @hookimpl
        def will_compact(self, params: WillCompactParams, context: HookContext) -> WillCompactResult:
            del params
            context.asks_model("large/model")
            asyncio.run_coroutine_threadsafe(waits_long(), loop).result(PATIENCE)
            return WillCompactResult(compaction=HookCompaction(summary="## Goal\nThe parts."))

    settings = {**HOOK_SETTINGS, "hooks": {"timeoutSeconds": 100, "modelTimeoutSeconds": 3_600}}
    client: Client = await make_client(settings, None, plugins_of(Slow()))
    made = await grown(client)
    progress = Watching()
    done = await client.call("compact", progress, conversationId=made)
    assert isinstance(done, CompactResult)
    assert (done.summarizer, done.warnings) == ("hook/ext0", [])
    assert "Waiting for the hook ext0, which asks large/model" in progress.stages


async def test_a_client_s_hook_that_asks_a_model_has_the_time_of_that_setting(
    make_client: MakeClient,
) -> None:
    settings = {**HOOK_SETTINGS, "hooks": {"timeoutSeconds": 100, "modelTimeoutSeconds": 3_600}}
    client: Client = await make_client(settings)

    async def answers_late(*_: Any) -> Any:
        assert client.port.on_part is not None
        client.port.on_part({"model": "large"})
        hurry()
        await asyncio.sleep(300)
        return {"compaction": {"summary": "## Goal\nAll parts."}}

    client.port.answer(answers_late, WILL_COMPACT)
    done = await client.ask("compact", conversationId=await grown(client))
    assert (done["summarizer"], done["warnings"]) == ("hook/client", [])


def test_a_client_s_hook_says_on_its_partial_result_token_that_it_asks_a_model(fresh: RawServer) -> None:
    fresh.initialize(hello("willCompact"))
    compacting = fresh.start_request(
        "coppice/compact", {**conversation(fresh), "workDoneToken": "compacting"}
    )
    request = asked(fresh, "coppice/willCompact")
    token = request["params"]["partialResultToken"]
    fresh.notify("$/progress", {"token": token, "value": {"model": "large"}})
    shown = ""
    while "large" not in shown:
        shown = fresh.notification("$/progress")["value"].get("message", "")
    assert shown == "Waiting for the client's hook, which asks large"
    result = {"compaction": {"summary": "## Goal\nAll parts."}}
    fresh.send({"jsonrpc": "2.0", "id": request["id"], "result": result})
    assert fresh.answer(compacting)["result"]["summarizer"] == "hook/client"


async def test_did_hooks_are_called_afterwards_and_say_whether_a_hook_wrote_the_summary(
    make_client: MakeClient,
) -> None:
    called: list[tuple[str, Any]] = []

    class After:
        @hookimpl
        def did_compact(self, params: Any) -> None:
            called.append(("compact", params))

        @hookimpl
        async def did_navigate(self, params: Any) -> None:
            called.append(("navigate", params))

        @hookimpl
        def did_fork(self, params: Any) -> None:
            called.append(("fork", params))

    summary = {"compaction": {"summary": "## Goal\nThe parts."}}
    plugins, _ = extended(summary)
    plugins.register("after", After())
    client: Client = await make_client(HOOK_SETTINGS, None, plugins)
    made = await grown(client)
    path = await entries(client, made)
    done = await client.ask("compact", conversationId=made)
    fork = await client.ask("conversation/fork", conversationId=made, entryId=path[4]["id"])
    await client.ask("navigate", conversationId=made, targetId=path[6]["id"])
    await until(lambda: len(called) == 3)
    by_name = dict(called)
    assert by_name["compact"].entry.id == done["entry"]["id"]
    assert by_name["compact"].from_hook is True
    assert by_name["navigate"].leaf_id == path[6]["id"]
    assert by_name["navigate"].from_hook is False
    assert by_name["fork"].fork_id == fork["conversation"]["id"]
    for name in ("compactionEnded", "didNavigate", "didFork"):
        assert len(client.notified(name)) == 1


def test_the_example_package_has_another_model_write_the_summary(tmp_path: Path, python: Path) -> None:
    code = (EXAMPLE / "coppice_second_model.py").read_text(encoding="utf-8")
    install(packages_of(python), "second-model", "coppice_second_model", code)
    written = "## Goal\nAll parts are small and fast.\n\n## Next Steps\n1. Part 30."
    with serving([json_body({"choices": [{"message": {"content": written}}]})]) as provider:
        variables = {"SECOND_MODEL_URL": provider.url, "SECOND_MODEL_NAME": "second"}
        with RawServer(tmp_path, python=[str(python)], variables=variables) as server:
            server.initialize(hello())
            done = server.result("coppice/compact", conversation(server))
            notification = server.notification("coppice/compactionEnded")
        sent = json.dumps(provider.requests[-1].body)
    assert done["summarizer"] == "hook/second-model"
    assert written in done["entry"]["summary"]
    assert done["entry"]["details"]["secondModel"] == "second"
    assert "Please change part 0" in sent
    assert notification["fromHook"] is True


def test_the_example_package_is_about_sixty_lines() -> None:
    assert len((EXAMPLE / "coppice_second_model.py").read_text(encoding="utf-8").splitlines()) <= 70
