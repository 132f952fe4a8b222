"""A client whose own turn runs is asked to abort it before a compaction that somebody asked for."""

from typing import Any

import pytest
from lsp.editor import SETTINGS, turn
from lsp.raw_client import RawServer


def hello(*, aborts: bool) -> dict[str, Any]:
    settings = {**SETTINGS, "hooks": {"timeoutSeconds": 5}}
    return {"initializationOptions": {"settings": settings, "abortTurn": aborts}}


def conversation_in_a_turn(server: RawServer) -> str:
    made = server.result("coppice/conversation/create")["conversation"]["id"]
    entries = [entry for number in range(30) for entry in turn(number)]
    server.result("coppice/append", {"conversationId": made, "entries": entries})
    server.result("coppice/turn/begin", {"conversationId": made, "turnId": "t1"})
    return str(made)


def asked(server: RawServer) -> dict[str, Any]:
    while (message := server.receive()).get("method") != "coppice/abortTurn":
        assert message.get("method") != "coppice/compactionStarted"
    return message


def test_a_turn_that_the_client_aborts_makes_way_for_a_compaction(fresh: RawServer) -> None:
    fresh.initialize(hello(aborts=True))
    made = conversation_in_a_turn(fresh)
    compacting = fresh.start_request("coppice/compact", {"conversationId": made})
    request = asked(fresh)
    assert request["params"] == {"conversationId": made, "turnId": "t1", "reason": "compaction"}
    fresh.send({"jsonrpc": "2.0", "id": request["id"], "result": {"aborted": True}})
    assert fresh.answer(compacting)["result"]["entry"]["reason"] == "manual"
    assert fresh.result("coppice/turn/begin", {"conversationId": made, "turnId": "t2"}) == {"turnId": "t2"}


@pytest.mark.parametrize(
    "reply", [{"result": {"aborted": False}}, {"error": {"code": -32601, "message": "what is that?"}}]
)
def test_a_client_that_does_not_abort_is_asked_to_end_its_turn(
    fresh: RawServer, reply: dict[str, Any]
) -> None:
    fresh.initialize(hello(aborts=True))
    made = conversation_in_a_turn(fresh)
    compacting = fresh.start_request("coppice/compact", {"conversationId": made})
    fresh.send({"jsonrpc": "2.0", "id": asked(fresh)["id"], **reply})
    refused = fresh.answer(compacting)["error"]
    assert refused["data"]["code"] == "conversation-busy"
    assert "turn/end" in refused["message"]


def test_a_client_that_answers_no_such_request_is_never_asked(fresh: RawServer) -> None:
    fresh.initialize(hello(aborts=False))
    made = conversation_in_a_turn(fresh)
    refused = fresh.request("coppice/compact", {"conversationId": made})["error"]
    assert refused["data"]["code"] == "conversation-busy"
    assert [message for message in fresh.seen if message.get("method") == "coppice/abortTurn"] == []
