"""A rule that never ends costs the request that met it, and nobody else."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import psutil
import pytest
from attacks.frozen_rule import BEGUN, frozen, killed, process_id
from attacks.worker_processes import TESTS, processes_that_know_the_tests, workers_of
from conftest_service import Client, user
from lsp.editor import turn
from lsp.raw_client import RawServer, environment
from preloaded import python
from waiting import PATIENCE, wait_until

from coppice.errors import WorkTooLongError
from coppice.protocol.file_events import FileEvent
from coppice.protocol.navigation import NavigateParams
from coppice.service.branches import navigating
from coppice.service.branches.branch_switch import BranchSwitch
from coppice.service.compaction import work_ledger
from coppice.service.core import conversation_path, worker_process
from coppice.service.core.worker_process import SMALL_TOKENS, call_on_tokens
from coppice.service.core.workers import READ_THREADS, STOPPING, Stopping
from coppice.service.files import tracking
from coppice.service.views import views
from coppice.tree.entries import MessageEntry
from coppice.tree.messages import UserMessage

__all__ = ["processes_that_know_the_tests"]

LONG = [entry for number in range(250) for entry in turn(number)]
"""Of more tokens than are worked on in the server's own process."""
STARTER = """
from attacks.frozen_rule import frozen
from coppice.service.compaction import work_ledger
work_ledger._ledger_until = frozen
from coppice.{program}.__main__ import main
main({arguments})
"""


async def a_long_conversation(client: Client) -> str:
    conversation = await client.conversation()
    await client.ask("append", conversationId=conversation, entries=LONG)
    return conversation


FACTS, FILES = (work_ledger, "_ledger_until"), (conversation_path, "_ledger")


@pytest.mark.parametrize(
    ("method", "rule"),
    [("ledger", FACTS), ("compact", FACTS), ("files", FILES), ("ledger", FILES), ("compactPreview", FILES)],
)
async def test_others_are_answered_and_a_cancel_ends_it(
    client: Client, monkeypatch: pytest.MonkeyPatch, method: str, rule: tuple[ModuleType, str]
) -> None:
    conversation = await a_long_conversation(client)
    monkeypatch.setattr(*rule, frozen)
    asked = asyncio.create_task(client.ask(method, conversationId=conversation))
    await asyncio.to_thread(wait_until, lambda: bool(workers_of(os.getpid())))
    for _ in range(5):
        await asyncio.wait_for(client.ask("entries", conversationId=conversation, limit=5), PATIENCE)
    assert not asked.done()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(asked, PATIENCE)
    await asyncio.to_thread(wait_until, lambda: not workers_of(os.getpid()))
    monkeypatch.undo()
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    answer = await client.ask("ledger", conversationId=conversation)
    assert "part" in str(answer["ledger"])


async def test_more_requests_than_threads_read_leave_other_conversations_readable(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation, other = await a_long_conversation(client), await client.conversation("plant an oak")
    monkeypatch.setattr(conversation_path, "_ledger", frozen)
    asked = [
        asyncio.create_task(client.ask("files", conversationId=conversation)) for _ in range(READ_THREADS + 1)
    ]
    await asyncio.to_thread(wait_until, lambda: bool(workers_of(os.getpid())))
    for method in ("context", "files"):
        await asyncio.wait_for(client.ask(method, conversationId=other), PATIENCE)
    assert not any(task.done() for task in asked)
    for task in asked:
        task.cancel()
    await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), PATIENCE)
    await asyncio.to_thread(wait_until, lambda: not workers_of(os.getpid()))


async def test_a_message_waits_for_what_git_changed_no_longer_than_for_a_moment(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    conversation = await a_long_conversation(client)
    workspace = tmp_path / "workspace"
    log = workspace / ".git" / "logs" / "HEAD"
    log.parent.mkdir(parents=True)
    (workspace / "a.py").touch()
    log.write_text(f"{'1' * 40} {'2' * 40} n <n@n> 1 +0000\tcheckout: moving from main to other\n")
    monkeypatch.setattr(conversation_path, "_ledger", frozen)
    monkeypatch.setattr(worker_process, "_LEAST_SECONDS", 2 * PATIENCE)
    monkeypatch.setattr(tracking, "_HISTORY_SECONDS", 1.0)
    client.service.tracking.feed([FileEvent((workspace / "a.py").as_uri(), "modified", "watcher")])
    asked = client.ask("append", conversationId=conversation, entries=[user("and now")])
    await asyncio.wait_for(asked, PATIENCE)
    await asyncio.to_thread(wait_until, lambda: not workers_of(os.getpid()))
    monkeypatch.undo()
    [update] = (await client.ask("files", conversationId=conversation))["gitUpdates"]
    assert (update["target"], update["files"]) == ("other", 1)


async def test_the_context_as_text_is_written_where_it_can_be_ended(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = await a_long_conversation(client)
    monkeypatch.setattr(views, "transcript", frozen)
    asked = asyncio.create_task(client.ask("context", conversationId=conversation, format="text"))
    await asyncio.to_thread(wait_until, lambda: bool(workers_of(os.getpid())))
    await asyncio.wait_for(client.ask("entries", conversationId=conversation, limit=5), PATIENCE)
    assert not asked.done()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(asked, PATIENCE)
    await asyncio.to_thread(wait_until, lambda: not workers_of(os.getpid()))


def test_what_hooks_are_given_of_a_branch_is_written_where_it_can_be_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(navigating, "serialize", process_id)
    text = MessageEntry(id="a", parent_id=None, timestamp="", message=UserMessage(content="a b " * 20_000))
    switch = SimpleNamespace(newest_entries=lambda: [text], rows=list, old_leaf_id=None, ancestor=None)
    params = NavigateParams(conversation_id="c", target_id="a")
    given = navigating._announced(params, cast("BranchSwitch", switch))
    assert given.text != str(os.getpid())


@pytest.mark.parametrize("mistake", [frozen, killed])
async def test_a_compaction_that_takes_too_long_is_refused_and_changes_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch, mistake: Any
) -> None:
    conversation = await a_long_conversation(client)
    monkeypatch.setattr(work_ledger, "_ledger_until", mistake)
    monkeypatch.setattr(worker_process, "_LEAST_SECONDS", 1.0)
    monkeypatch.setattr(worker_process, "_TOKENS_PER_SECOND", 1_000_000)
    with pytest.raises(WorkTooLongError, match="nothing was changed"):
        await client.ask("compact", conversationId=conversation)
    listed = (await client.ask("conversation/get", conversationId=conversation))["conversation"]
    assert listed["entryCount"] == len(LONG)


def test_what_a_function_raises_is_raised_and_its_process_stays() -> None:
    call_on_tokens(SMALL_TOKENS, len, "abc")
    [process] = workers_of(os.getpid())
    with pytest.raises(ZeroDivisionError):
        call_on_tokens(SMALL_TOKENS, divmod, 1, 0)
    assert call_on_tokens(SMALL_TOKENS, len, "abcd") == 4
    assert workers_of(os.getpid()) == [process]


def test_what_is_stopped_when_its_result_is_there_takes_its_process_from_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call = worker_process._Process.call

    def stopped_then(process: Any, *given: Any) -> Any:
        result = call(process, *given)
        STOPPING.get().stop()
        return result

    for _ in range(5):
        with monkeypatch.context() as patched:
            patched.setattr(worker_process._Process, "call", stopped_then)
            STOPPING.set(Stopping())
            assert call_on_tokens(SMALL_TOKENS, len, "abc") == 3
        STOPPING.set(Stopping())
        assert call_on_tokens(SMALL_TOKENS, len, "abcd") == 4


def test_a_short_text_needs_no_process() -> None:
    assert call_on_tokens(SMALL_TOKENS - 1, len, "abc") == 3
    assert workers_of(os.getpid()) == []


def test_where_no_process_can_be_started_the_work_is_done_here() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (psutil.Process().num_fds(), hard))
    try:
        assert call_on_tokens(SMALL_TOKENS, len, "abc") == 3
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert workers_of(os.getpid()) == []


@pytest.mark.parametrize("how", ["exit", "SIGTERM", "SIGKILL"])
def test_the_process_ends_with_the_server(tmp_path: Path, how: str) -> None:
    starter = STARTER.format(program="lsp", arguments="[]")
    with RawServer(tmp_path, ("-c", starter), variables={"PYTHONPATH": str(TESTS)}) as server:
        server.initialize({})
        made = server.result("coppice/conversation/create", {})["conversation"]["id"]
        server.result("coppice/append", {"conversationId": made, "entries": LONG})
        server.start_request("coppice/ledger", {"conversationId": made})
        wait_until(lambda: bool(workers_of(server.process.pid)))
        [worker] = workers_of(server.process.pid)
        began = time.monotonic()
        if how == "exit":
            server.result("shutdown")
            server.notify("exit")
        else:
            server.process.send_signal(signal.Signals[how])
        server.process.wait(PATIENCE)
        assert time.monotonic() - began < PATIENCE
        wait_until(lambda: not worker.is_running())


def test_the_command_line_shows_how_far_it_is_and_is_interrupted(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    with RawServer(tmp_path, python=python()) as server:
        server.initialize({})
        made = server.result("coppice/conversation/create", {})["conversation"]["id"]
        server.result("coppice/append", {"conversationId": made, "entries": LONG})
        listed = server.result("coppice/tree", {"conversationId": made})
        starter = STARTER.format(program="cli", arguments="")
        with subprocess.Popen(
            [sys.executable, "-c", starter, "ledger", made],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(tmp_path) | {BEGUN: str(begun)},
        ) as command:
            wait_until(begun.exists)
            [worker] = workers_of(command.pid)
            command.send_signal(signal.SIGINT)
            out, err = command.communicate(timeout=PATIENCE)
        assert (command.returncode, out) == (130, b"")
        assert err.decode().splitlines() == [
            "Computing the facts …",
            f"Computing the facts: Reading {len(LONG)} entries (5 %)",
            "Computing the facts: Stopped",
            "coppice: interrupted; nothing was changed.",
        ]
        wait_until(lambda: not worker.is_running())
        assert server.result("coppice/tree", {"conversationId": made}) == listed
