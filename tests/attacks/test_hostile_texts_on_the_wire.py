"""A running server compacts 250 kB of any hostile text within its limits, and answers others meanwhile.

Limits are processor time of the server's processes, so that a busy machine does not break them.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from attacks import hostile_texts
from attacks.hostile_texts import KINDS, entries_with, imported_summary, text_of
from attacks.worker_processes import workers_of
from conftest_service import assistant, user
from lsp.raw_client import RawServer
from models.provider_replies import answer
from models.provider_server import ProviderServer, serving
from scripted import GOOD

COMPACTION_SECONDS = 5.0
OTHER_SECONDS = 1.0
OTHERS = 30
"""Requests that are sent one after the other while a compaction runs."""
PATIENCE = 120.0
MODEL: dict[str, Any] = {"provider": "openai", "name": "m", "contextWindow": 200_000}

each_text = hostile_texts.each_text(("- a\n",), drawn=8)
"""The service itself gets more of them."""


class Patient(RawServer):
    """A server that a busy machine may slow down."""

    def receive(self, timeout: float = PATIENCE) -> dict[str, Any]:
        return super().receive(timeout)

    def processor_seconds(self) -> float:
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)

    def worked_seconds(self) -> float:
        """Processor seconds, those of the processes that it computes in among them, also of such as ended."""
        ended = psutil.Process(self.process.pid).cpu_times()
        seconds = self.processor_seconds() + ended.children_user + ended.children_system
        for worker in workers_of(self.process.pid):
            with suppress(psutil.NoSuchProcess):
                times = worker.cpu_times()
                seconds += times.user + times.system
        return seconds


@pytest.fixture(scope="module")
def provider() -> Iterator[ProviderServer]:
    with serving() as provider:
        yield provider


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, provider: ProviderServer) -> Iterator[Patient]:
    """A server whose summaries come from `provider`; where that fails, from itself."""
    settings = {
        "summarizer": {**MODEL, "baseUrl": provider.url},
        "compaction": {"keepRecentTokens": 300},
    }
    with Patient(tmp_path_factory.mktemp("wire")) as server:
        server.initialize({"initializationOptions": {"settings": settings}})
        # What is loaded once counts for no text.
        provider.script[:] = [answer(GOOD)]
        compact(server, begun(server))
        yield server


def appended(server: Patient, conversation: str, *entries: dict[str, Any]) -> None:
    params = {"conversationId": conversation, "entries": list(entries)}
    server.result("coppice/append", params)


def begun(server: Patient) -> str:
    made = server.result("coppice/conversation/create")["conversation"]["id"]
    appended(server, made, user("Build the importer."), assistant("I will."))
    return str(made)


def compact(server: Patient, conversation: str) -> dict[str, Any]:
    """The result of a compaction, while which other requests are answered one after the other."""
    long = "It reads rows and writes them. " * 3_000
    appended(server, conversation, *(entry for _ in range(2) for entry in (user(long), assistant("Done."))))
    began = server.worked_seconds()
    compacting = server.start_request("coppice/compact", {"conversationId": conversation})
    for _ in range(OTHERS):
        asked = server.processor_seconds()
        assert "result" in server.request("coppice/entries", {"conversationId": conversation, "limit": 1})
        assert server.processor_seconds() - asked < OTHER_SECONDS
    result: dict[str, Any] = server.answer(compacting)["result"]
    assert server.worked_seconds() - began < COMPACTION_SECONDS
    return result


@each_text
@pytest.mark.parametrize("kind", KINDS)
def test_a_conversation_with_it(server: Patient, provider: ProviderServer, unit: str, kind: str) -> None:
    provider.script[:] = [answer(GOOD)]
    conversation = begun(server)
    appended(server, conversation, *entries_with(kind, text_of(unit)))
    assert "importer" in compact(server, conversation)["entry"]["summary"]


@each_text
@pytest.mark.parametrize("form", ["{good}\n- {text}", "{text}\n{good}", "## {text}\n{good}"])
def test_a_summary_that_a_model_wrote(
    server: Patient, provider: ProviderServer, unit: str, form: str
) -> None:
    provider.script[:] = [answer(form.format(good=GOOD, text=text_of(unit)))]
    asked = len(provider.requests)
    assert compact(server, begun(server))["entry"]["summary"]
    assert len(provider.requests) > asked


@each_text
def test_an_imported_summary(server: Patient, provider: ProviderServer, unit: str, tmp_path: Path) -> None:
    provider.script[:] = [answer(GOOD)]
    file = tmp_path / "session.jsonl"
    file.write_text(imported_summary(unit))
    began = server.processor_seconds()
    made = server.result("coppice/conversation/import", {"uri": file.as_uri(), "format": "pi"})
    assert server.processor_seconds() - began < COMPACTION_SECONDS
    assert compact(server, made["conversation"]["id"])["entry"]["summary"]
