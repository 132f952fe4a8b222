"""What an append may cost, counted: statements, and resolutions of the settings."""

import os
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest_service import Client, MakeClient
from sqlalchemy import event
from sqlalchemy.engine import Engine
from waiting import PATIENCE

from coppice.service.conversations import conversations
from coppice.service.core import settings_source
from coppice.service.core.settings_source import SettingsSource
from coppice.service.window import usage
from coppice.settings import ModelSettings
from coppice.store.engines import prepared
from coppice.tokens import counting, measuring
from coppice.tokens.counting import CHARS_PER_TOKEN

MOST_STATEMENTS = 6
"""Version, conversation with its leaf, entry, landmark, conversation, change."""


@pytest.mark.skipif("COPPICE_STORAGE_URL" in os.environ, reason="counts SQLite's statements")
async def test_an_append_is_six_statements_and_resolves_no_settings(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await client.conversation("one", "two")
    monkeypatch.setattr(settings_source, "resolve", None)  # would raise
    sent: list[str] = []
    compiled: list[Any] = []

    def note(*about: Any) -> None:
        sent.append(about[2])

    def note_compiled(_connection: object, statement: Any, *_: object) -> None:
        compiled.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    event.listen(Engine, "before_execute", note_compiled)
    try:
        message = {"role": "user", "content": "three"}
        await client.ask("append", conversationId=made, entries=[{"type": "message", "message": message}])
    finally:
        event.remove(Engine, "before_cursor_execute", note)
        event.remove(Engine, "before_execute", note_compiled)

    assert 0 < len(sent) <= MOST_STATEMENTS, sent
    written = {each.table.name for each in compiled if getattr(each, "is_dml", False)}
    assert written.isdisjoint({"entry", "change"}), "what an append writes is compiled once"


async def test_stores_that_are_opened_later_compile_no_write_again(make_client: MakeClient) -> None:
    sizes = set()
    for _ in range(2):
        client: Client = await make_client()
        conversation = await client.conversation("one", "two")
        message = {"role": "user", "content": "three"}
        entries = [{"type": "message", "message": message}]
        await client.ask("append", conversationId=conversation, entries=entries)
        sizes.add(prepared._compiled.cache_info().currsize)
    assert len(sizes) == 1, "what is compiled stays as long as the process"


def test_every_place_that_settings_come_from_takes_effect_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file, checkout = tmp_path / "user.toml", tmp_path / "checkout"
    (checkout / ".coppice").mkdir(parents=True)
    source = SettingsSource(user_file=user_file)
    uri = checkout.as_uri()
    first = source.of(uri)
    with monkeypatch.context() as patch:
        for name in ("resolve", "user_layer", "workspace_layer", "request_layer"):
            patch.setattr(settings_source, name, None)  # would raise
        assert source.of(uri) is first

    user_file.write_text("[compaction]\nreserveTokens = 9000\n")
    assert source.of(uri).compaction.reserve_tokens == 9000
    (checkout / ".coppice" / "settings.toml").write_text("[compaction]\nreserveTokens = 9001\n")
    assert source.of(uri).compaction.reserve_tokens == 9001
    source.editor = {"compaction": {"reserveTokens": 9002}}
    assert source.of(uri).compaction.reserve_tokens == 9002
    assert source.of(uri, {"compaction": {"reserveTokens": 9003}}).compaction.reserve_tokens == 9003
    assert source.of(uri).compaction.reserve_tokens == 9002
    monkeypatch.setenv("COPPICE_STORAGE_DIRECTORY", str(tmp_path / "elsewhere"))
    assert source.of(uri).storage.directory == str(tmp_path / "elsewhere")
    source.report_window(ModelSettings(), 50_000)
    assert source.of(uri).model.context_window == 50_000
    user_file.write_text("no TOML")
    assert any("could not be read" in problem for problem in source.explained(uri)[1])


def test_settings_that_the_editor_replaces_during_a_look_up_are_not_remembered_as_those_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = ({"compaction": {"reserveTokens": tokens}} for tokens in (9000, 9001))
    source = SettingsSource(editor=first, user_file=tmp_path / "user.toml")

    def replace(_file: Path) -> tuple[dict[str, Any], list[str]]:
        source.editor = second
        return {}, []

    with monkeypatch.context() as patch:
        patch.setattr(settings_source, "read_user_file", replace)
        source.of()
    source.editor = first
    assert source.of().compaction.reserve_tokens == 9000


def test_settings_of_any_number_of_workspaces_take_bounded_memory(tmp_path: Path) -> None:
    source = SettingsSource(user_file=tmp_path / "user.toml")
    for number in range(2 * settings_source.MOST_REMEMBERED):
        source.of((tmp_path / str(number)).as_uri())
        assert len(source._resolved) <= settings_source.MOST_REMEMBERED


async def test_the_tokenizer_is_loaded_from_the_first_conversation_on(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = threading.Event()
    monkeypatch.setattr(counting, "encoding", loaded.set)
    counting.load_ahead.cache_clear()
    client = await make_client()
    await client.ask("conversation/list")
    assert not loaded.is_set()
    await client.conversation()
    assert loaded.wait(PATIENCE)


async def test_the_first_look_at_a_conversation_does_not_wait_for_the_tokenizer(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[object] = []
    monkeypatch.setattr(usage, "load_soon", lambda: calls.append("soon"))
    monkeypatch.setattr(conversations, "load_ahead", lambda: None)  # a load under way would end later
    client = await make_client()
    conversation = await client.conversation("Water the larch.")
    # A load that an earlier test began may end meanwhile.
    monkeypatch.setattr(counting, "_loaded", SimpleNamespace(is_set=lambda: False, set=lambda: None))
    monkeypatch.setattr(counting, "encoding", lambda: calls.append("loaded"))
    calls.clear()
    shown = await client.ask("usage", conversationId=conversation)
    await client.ask("context", conversationId=conversation)
    await client.ask("conversation/get", conversationId=conversation)
    assert (shown["source"], shown["tokens"]) == ("tokenizer", 5)
    assert calls, "it is loaded later"
    assert "loaded" not in calls


async def test_the_first_append_does_not_wait_for_the_tokenizer(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await make_client()
    conversation = await client.conversation()
    content = "上" * measuring.MOST_ESTIMATED * CHARS_PER_TOKEN

    async def tokens_of_append(*contents: str) -> int:
        before = (await client.ask("usage", conversationId=conversation))["tokens"]
        messages = [{"role": "user", "content": content} for content in contents]
        entries = [{"type": "message", "message": message} for message in messages]
        done = await client.ask("append", conversationId=conversation, entries=entries)
        return int(done["usage"]["tokens"] - before)

    calls: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(measuring, "is_loaded", lambda: False)
        patch.setattr(measuring, "load_soon", lambda: calls.append("soon"))
        patch.setattr(measuring, "count_tokens", lambda _text: 7)
        assert await tokens_of_append(content) == measuring.MOST_ESTIMATED
        assert calls == ["soon"]
        assert await tokens_of_append(f"{content}.") == 7, "the estimate of a long text may be far off"
        assert await tokens_of_append(content, ".") == 14, "likewise of many short ones"
    assert await tokens_of_append(content) > measuring.MOST_ESTIMATED, "once it is loaded, it counts"
