"""A client that answers hooks is asked over the wire, in time, and only for what it announced."""

from typing import Any

import pytest
from lsp.editor import SETTINGS, turn
from lsp.raw_client import RawServer
from models.provider_replies import answer
from models.provider_server import serving

SUMMARY = "The parts are written, and small and fast."


def hello(*hooks: str, seconds: float = 20) -> dict[str, Any]:
    settings = {**SETTINGS, "hooks": {"timeoutSeconds": seconds}, "summarizer": {"provider": "offline"}}
    return {"initializationOptions": {"settings": settings, "hooks": dict.fromkeys(hooks, True)}}


def conversation(server: RawServer) -> dict[str, str]:
    made = server.result("coppice/conversation/create")["conversation"]["id"]
    entries = [entry for number in range(30) for entry in turn(number)]
    server.result("coppice/append", {"conversationId": made, "entries": entries})
    return {"conversationId": str(made)}


def asked(server: RawServer, method: str) -> dict[str, Any]:
    return server._first(lambda message: message.get("method") == method)  # whole, with its id


def test_a_summary_of_the_client_s_is_stored_between_start_and_end(fresh: RawServer) -> None:
    fresh.initialize(hello("willCompact"))
    about = conversation(fresh)
    compacting = fresh.start_request("coppice/compact", about)
    request = asked(fresh, "coppice/willCompact")
    assert [message["method"] for message in fresh.seen if "compaction" in message.get("method", "")] == [
        "coppice/compactionStarted"
    ]
    assert request["params"]["preparation"]["text"].startswith("<conversation>")
    answered = {"compaction": {"summary": SUMMARY, "details": {"by": "the editor"}}, "unknown": 1}
    fresh.send({"jsonrpc": "2.0", "id": request["id"], "result": answered})
    done = fresh.answer(compacting)["result"]
    assert (done["entry"]["fromHook"], done["entry"]["summary"]) == (True, SUMMARY)
    assert done["entry"]["details"]["by"] == "the editor"
    ended = [message for message in fresh.seen if message.get("method") == "coppice/compactionEnded"]
    assert [message["params"]["status"] for message in ended] == ["completed"]


@pytest.mark.parametrize(
    "reply", [{"result": {"compaction": []}}, {"error": {"code": -32000, "message": "no"}}, None]
)
def test_a_client_that_does_not_answer_well_is_passed_over_and_reported(
    fresh: RawServer, reply: dict[str, Any] | None
) -> None:
    fresh.initialize(hello("willCompact", seconds=0.3))
    compacting = fresh.start_request("coppice/compact", conversation(fresh))
    request = asked(fresh, "coppice/willCompact")
    if reply is not None:
        fresh.send({"jsonrpc": "2.0", "id": request["id"], **reply})
    done = fresh.answer(compacting)["result"]
    assert done["summarizer"] == "offline"
    assert done["warnings"][0].startswith("The client's hook ")
    assert fresh.notification("window/logMessage") == {"type": 2, "message": done["warnings"][0]}
    if reply is None:
        assert fresh.notification("$/cancelRequest") == {"id": request["id"]}


def test_a_client_that_cancels_is_notified_in_its_request_s_answer(fresh: RawServer) -> None:
    fresh.initialize(hello("willCompact", "willNavigate", "willFork"))
    about = conversation(fresh)
    entry = fresh.result("coppice/entries", {**about, "limit": 3})["entries"][2]["id"]
    for method, more, hook in (
        ("coppice/compact", {}, "coppice/willCompact"),
        ("coppice/conversation/fork", {"entryId": entry}, "coppice/willFork"),
    ):
        waiting = fresh.start_request(method, {**about, **more})
        fresh.send({"jsonrpc": "2.0", "id": asked(fresh, hook)["id"], "result": {"cancel": True}})
        refused = fresh.answer(waiting)["error"]
        assert (refused["code"], refused["data"]) == (-32803, {"code": "cancelled-by-hook", "hook": "client"})
    waiting = fresh.start_request("coppice/navigate", {**about, "targetId": entry})
    asked_about = asked(fresh, "coppice/willNavigate")
    fresh.send({"jsonrpc": "2.0", "id": asked_about["id"], "result": {"cancel": True}})
    done = fresh.answer(waiting)["result"]
    assert done == {"leafId": asked_about["params"]["oldLeafId"], "cancelled": True}


def test_a_client_is_asked_only_what_it_announced(fresh: RawServer) -> None:
    fresh.initialize(hello("willNavigate"))
    about = conversation(fresh)
    entry = fresh.result("coppice/entries", {**about, "limit": 3})["entries"][2]["id"]
    fresh.result("coppice/compact", about)
    fresh.result("coppice/conversation/fork", {**about, "entryId": entry})
    assert [message for message in fresh.seen if "/will" in message.get("method", "")] == []


@pytest.mark.parametrize("method", ["compact", "navigate", "conversation/fork"])
def test_a_request_can_be_cancelled_while_its_hook_is_asked(fresh: RawServer, method: str) -> None:
    fresh.initialize(hello("willCompact", "willNavigate", "willFork"))
    about = conversation(fresh)
    before = fresh.result("coppice/entries", {**about, "limit": 1000})
    entry = before["entries"][2]["id"]
    waiting = fresh.start_request(f"coppice/{method}", {**about, "entryId": entry, "targetId": entry})
    request = fresh._first(lambda message: "/will" in message.get("method", ""))  # whole, with its id
    fresh.notify("$/cancelRequest", {"id": waiting})
    assert fresh.answer(waiting)["error"]["code"] == -32800
    assert fresh.notification("$/cancelRequest") == {"id": request["id"]}
    assert fresh.result("coppice/entries", {**about, "limit": 1000}) == before
    assert len(fresh.result("coppice/conversation/list")["conversations"]) == 1
    if method == "compact":
        assert fresh.notification("coppice/compactionEnded")["status"] == "cancelled"


def test_a_hook_that_cancels_does_not_stop_a_turn(fresh: RawServer) -> None:
    with serving([answer("Here.")]) as provider:
        params = hello("willCompact")
        params["initializationOptions"]["settings"]["model"] = {
            "provider": "openai",
            "name": "m",
            "baseUrl": provider.url,
            "contextWindow": 6_000,
        }
        fresh.initialize(params)
        prompting = fresh.start_request("coppice/prompt", {**conversation(fresh), "content": "Go on."})
        request = asked(fresh, "coppice/willCompact")
        assert request["params"]["reason"] == "threshold"
        fresh.send({"jsonrpc": "2.0", "id": request["id"], "result": {"cancel": True}})
        done = fresh.answer(prompting)["result"]
        assert (done["stopReason"], done["compactions"]) == ("stop", [])
        assert fresh.notification("coppice/compactionEnded")["status"] == "cancelled"
