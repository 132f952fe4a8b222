"""A hook that fails, hangs or talks nonsense is passed over, and named."""

import threading
import time
from typing import Any

import pytest
from conftest_service import Client, MakeClient
from service.hook_kit import IMPATIENT, SETTINGS, SUMMARY, Extension, entries, extended, grown, with_editor
from waiting import PATIENCE, until

from coppice.hooks import hookimpl
from coppice.service.hooks.plugins import Plugins


def raising() -> Any:
    raise RuntimeError("secret of the conversation")


def leaving() -> Any:
    raise SystemExit(3)


def sleeping() -> Any:
    time.sleep(3)


BAD = [
    (raising, "raised RuntimeError"),
    (leaving, "raised SystemExit"),
    (sleeping, "within 0.5 s"),
    ({"cancel": "maybe"}, "does not fit (cancel"),
    ({"compaction": {}}, "does not fit (compaction.summary"),
    (5, "does not fit"),
    ([], "does not fit"),
    ({"compaction": {"summary": "half \ud83d"}}, "no JSON value"),
    ({"compaction": {"summary": SUMMARY, "details": {"at": object()}}}, "no JSON value"),
    ({"compaction": {"summary": SUMMARY, "details": {"size": float("nan")}}}, "no JSON value"),
]


@pytest.mark.parametrize(("answer", "expected"), BAD)
async def test_an_extension_that_fails_is_skipped_and_named(
    make_client: MakeClient, answer: Any, expected: str, caplog: pytest.LogCaptureFixture
) -> None:
    plugins, (extension,) = extended(answer)
    client: Client = await make_client(IMPATIENT if answer is sleeping else SETTINGS, None, plugins)
    done = await client.ask("compact", conversationId=await grown(client))
    assert (done["summarizer"], len(extension.asked)) == ("offline", 1)
    assert done["warnings"] == client.port.logged
    assert client.port.logged[0].startswith("The hook ext0 ")
    assert expected in client.port.logged[0]
    assert "secret" not in client.port.logged[0] + caplog.text
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("answer", [RuntimeError("no"), "silence", "nonsense", {"compaction": 1}])
async def test_a_client_that_fails_is_skipped_and_named(make_client: MakeClient, answer: Any) -> None:
    settings = IMPATIENT if answer == "silence" else SETTINGS
    client, _ = await with_editor(make_client, answer, **settings)
    done = await client.ask("compact", conversationId=await grown(client))
    assert done["summarizer"] == "offline"
    assert done["warnings"][0].startswith("The client's hook ")


async def test_an_extension_that_hangs_is_not_asked_again_before_it_is_back(make_client: MakeClient) -> None:
    gate = threading.Event()
    plugins, (extension,) = extended(lambda: gate.wait(PATIENCE) and None)
    client: Client = await make_client(IMPATIENT, None, plugins)
    made = await grown(client)
    path = await entries(client, made)
    await client.ask("conversation/fork", conversationId=made, entryId=path[3]["id"])
    await client.ask("conversation/fork", conversationId=made, entryId=path[4]["id"])
    assert len(extension.asked) == 1
    gate.set()

    async def is_asked() -> bool:
        await client.ask("conversation/fork", conversationId=made, entryId=path[5]["id"])
        return len(extension.asked) > 1

    await until(is_asked)
    assert len(extension.asked) == 2


async def test_an_extension_that_does_not_fit_is_left_out_and_named() -> None:
    class Odd:
        @hookimpl
        def will_compact(self, params: Any, more: Any) -> None: ...

    plugins = Plugins()
    plugins.register("odd", Odd())
    plugins.register("twice", Extension())
    plugins.register("twice", Extension())
    assert plugins.implementing("will_compact") == ["twice"]
    assert [problem.split(" could")[0] for problem in plugins.problems] == ["The hook odd", "The hook twice"]
