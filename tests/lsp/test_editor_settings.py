"""How an editor's settings and folders reach the service, and reports on those that do not fit."""

import asyncio
from pathlib import Path
from typing import Any

from lsp.editor import NO_PROGRESS, Editor, editing
from lsprotocol import types
from pytest_lsp import LanguageClient
from waiting import until

WINDOW = {"model": {"contextWindow": 50_000}}
PULLS = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        configuration=True,
        did_change_configuration=types.DidChangeConfigurationClientCapabilities(dynamic_registration=True),
    )
)
CHANGED = types.WORKSPACE_DID_CHANGE_CONFIGURATION


async def window_of(editor: Editor) -> Any:
    made = await editor.ask("coppice/conversation/create", {})
    usage = await editor.ask("coppice/usage", {"conversationId": made["conversation"]["id"]})
    return usage["contextWindow"]


async def until_window_is(editor: Editor, tokens: int) -> None:
    async def is_it() -> bool:
        return bool(await window_of(editor) == tokens)

    await until(is_it)


def warnings(client: LanguageClient) -> list[str]:
    return [log.message for log in client.log_messages if log.type == types.MessageType.Warning]


async def test_settings_come_with_initialize(tmp_path: Path) -> None:
    async with editing(tmp_path, settings=WINDOW) as editor:
        assert await window_of(editor) == 50_000


async def test_the_first_request_waits_for_settings_that_are_pulled(tmp_path: Path) -> None:
    section = {"coppice": {"model": {"contextWindow": 60_000}}}
    async with editing(tmp_path, PULLS, settings=WINDOW, configuration={"": section}) as editor:
        assert await window_of(editor) == 60_000


async def test_a_client_that_never_answers_about_settings_is_served(tmp_path: Path) -> None:
    leaving = asyncio.Event()

    async def put_off(_: types.ConfigurationParams) -> list[None]:
        await leaving.wait()
        return [None]

    features = {types.WORKSPACE_CONFIGURATION: put_off}
    async with editing(tmp_path, PULLS, settings=WINDOW, features=features) as editor:
        assert await window_of(editor) == 50_000
        leaving.set()


async def test_a_client_is_registered_with_and_asked_again_on_a_change(tmp_path: Path) -> None:
    registered: list[types.Registration] = []

    def register(params: types.RegistrationParams) -> None:
        registered.extend(params.registrations)

    features = {types.CLIENT_REGISTER_CAPABILITY: register}
    async with editing(tmp_path, PULLS, features=features) as editor:
        await window_of(editor)
        assert [one.method for one in registered] == [CHANGED]
        editor.client.set_configuration({"model": {"contextWindow": 70_000}}, section="coppice")
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
        await until_window_is(editor, 70_000)


async def test_a_client_that_cannot_be_asked_pushes_its_section(tmp_path: Path) -> None:
    async with editing(tmp_path, NO_PROGRESS, settings=WINDOW) as editor:
        pushed = {"coppice": {"model": {"contextWindow": 80_000}}, "other": 1}
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=pushed))
        await until_window_is(editor, 80_000)
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings={}))
        await until_window_is(editor, 50_000)


async def test_a_value_that_cannot_be_used_is_named_once(tmp_path: Path) -> None:
    settings = {**WINDOW, "compaction": {"reserveTokens": "many"}, "storage": {"url": "postgresql://x"}}
    async with editing(tmp_path, settings=settings) as editor:
        assert await window_of(editor) == 50_000
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings={}))
        pushed = {"coppice": {"model": {"contextWindow": 90_000}}}
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=pushed))
        await until_window_is(editor, 90_000)
        reported = warnings(editor.client)
        assert sum("compaction.reserveTokens" in warning for warning in reported) == 1
        assert sum("storage.url" in warning for warning in reported) == 1
        assert not any("postgresql" in warning for warning in reported)


async def test_folders_come_and_go(tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        mine = await editor.ask("coppice/conversation/create", {})
        assert mine["conversation"]["workspaceUri"] == "file:///editor"
        editor.client.workspace_did_change_workspace_folders(
            types.DidChangeWorkspaceFoldersParams(
                event=types.WorkspaceFoldersChangeEvent(
                    added=[types.WorkspaceFolder(uri="file:///second", name="second")],
                    removed=[types.WorkspaceFolder(uri="file:///editor", name="editor")],
                )
            )
        )

        async def moved() -> bool:
            made = await editor.ask("coppice/conversation/create", {})
            return bool(made["conversation"]["workspaceUri"] == "file:///second")

        await until(moved)
