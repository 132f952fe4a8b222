"""No request, however it is made, is answered by an internal error, also not because of what others stored.

`COPPICE_FAULT_SEED` repeats a run, `COPPICE_FUZZ_SECONDS` sets how long the slow one takes.
"""

import os
import random
import time
from pathlib import Path
from typing import Any

import pytest
from attacks.request_mutations import Requests
from lsp.raw_client import RawServer
from preloaded import python

SEED = int(os.environ.get("COPPICE_FAULT_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
SECONDS = float(os.environ.get("COPPICE_FUZZ_SECONDS", "110"))
AT_ONCE = 8
"""Requests that are sent before the first answer is read."""
MOST_CONVERSATIONS = 6
REFUSALS = frozenset({-32602, -32800, -32803})


def ask_at_random(server: RawServer, requests: Requests, count: int, until: float) -> int:
    """Sends so many requests, or fewer when the time is over; how many."""
    sent = 0
    while sent < count and time.monotonic() < until:
        asked = []
        for _ in range(AT_ONCE):
            method, params = requests.next()
            asked.append((server.start_request(method, params), method, params))
        for request_id, method, params in asked:
            answer = server.answer(request_id)
            sent += 1
            if "error" in answer:
                fault = (requests.seed, sent, method, params, answer, server.stderr[-2000:].decode())
                assert answer["error"]["code"] in REFUSALS, fault
            else:
                note(requests, method, params, answer["result"])
        server.seen.clear()
        while len(requests.conversations) < 2:
            requests.conversations[create(server)] = []
    return sent


def note(requests: Requests, method: str, params: Any, result: Any) -> None:
    """Keeps the conversations and the entries that requests may name."""
    conversations = requests.conversations
    if method == "coppice/conversation/delete":
        conversations.pop(params["conversationId"], None)
    elif (made := result.get("conversation")) and made["id"] not in conversations:
        if len(conversations) >= MOST_CONVERSATIONS:
            del conversations[requests.chance.choice(list(conversations))]
        conversations[made["id"]] = []
    elif method == "coppice/append" and params["conversationId"] in conversations:
        conversations[params["conversationId"]] += result["entryIds"]


def create(server: RawServer) -> str:
    return str(server.result("coppice/conversation/create", {})["conversation"]["id"])


def run(tmp_path: Path, count: int, seconds: float) -> int:
    print(f"COPPICE_FAULT_SEED={SEED}")
    settings = {
        "compaction": {"keepRecentTokens": 50, "reserveTokens": 1000},
        "tokens": {"counter": "estimate"},
    }
    with RawServer(tmp_path, python=python()) as server:
        server.initialize({"initializationOptions": {"settings": settings}})
        requests = Requests(SEED, {create(server): [] for _ in range(3)})
        sent = ask_at_random(server, requests, count, time.monotonic() + seconds)
        assert "conversations" in server.result("coppice/conversation/list", {})
        assert server.process.poll() is None
    return sent


def test_a_mutated_request_is_answered_or_refused(tmp_path: Path) -> None:
    assert run(tmp_path, 1_000, 20) > 0


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_mutated_requests_are_answered_or_refused_for_minutes(tmp_path: Path) -> None:
    assert run(tmp_path, 10**9, SECONDS) > 0
