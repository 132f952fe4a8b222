"""The editor's own model writes summaries, asked through `coppice/sample`."""

from typing import Any

import pytest
from lsp.editor import SETTINGS, turn
from lsp.raw_client import RawServer

SUMMARY = "## Goal\nSmall and fast parts.\n\n## Next Steps\n1. Go on with src/part_9.py and src/part_8.py."


def hello(*, sampling: bool) -> dict[str, Any]:
    settings = {**SETTINGS, "summarizer": {"provider": "editor"}}
    return {"initializationOptions": {"settings": settings, "sampling": sampling}}


def conversation(server: RawServer) -> str:
    made = server.result("coppice/conversation/create")["conversation"]["id"]
    entries = [entry for number in range(30) for entry in turn(number)]
    server.result("coppice/append", {"conversationId": made, "entries": entries})
    return str(made)


def sample_request(server: RawServer) -> dict[str, Any]:
    return server._first(
        lambda message: message.get("method") == "coppice/sample"
    )  # the request whole, with its id


def answer_samples(server: RawServer, waiting: int, reply: dict[str, Any]) -> dict[str, Any]:
    """The result of the request `waiting`; whatever the server samples until then is answered alike."""
    pending = [message for message in server.seen if message.get("method") == "coppice/sample"]
    while pending or (message := server.receive()).get("id") != waiting or "method" in message:
        asked = pending.pop() if pending else message
        if asked.get("method") == "coppice/sample":
            server.send({"jsonrpc": "2.0", "id": asked["id"], **reply})
    result: dict[str, Any] = message["result"]
    return result


def test_the_editors_model_is_asked_and_its_summary_stored(fresh: RawServer) -> None:
    fresh.initialize(hello(sampling=True))
    made = conversation(fresh)
    compacting = fresh.start_request("coppice/compact", {"conversationId": made})
    request = sample_request(fresh)
    assert request["params"]["purpose"] == "summary"
    assert request["params"]["maxTokens"] > 0
    assert "<conversation>" in str(request["params"]["messages"])
    answered = {"text": SUMMARY, "model": "of-the-editor", "stopReason": "stop"}
    fresh.send({"jsonrpc": "2.0", "id": request["id"], "result": answered})
    done = answer_samples(fresh, compacting, {"result": answered})
    assert done["summarizer"].startswith("editor/")
    assert "Small and fast parts." in done["entry"]["summary"]


@pytest.mark.parametrize(
    "reply",
    [
        {"error": {"code": -32000, "message": "no model is signed in"}},
        {"result": {"nonsense": 1}},
        {"result": None},
    ],
)
def test_an_editor_that_cannot_answer_is_named_and_the_offline_summarizer_writes(
    fresh: RawServer, reply: dict[str, Any]
) -> None:
    fresh.initialize(hello(sampling=True))
    made = conversation(fresh)
    compacting = fresh.start_request("coppice/compact", {"conversationId": made})
    done = answer_samples(fresh, compacting, reply)
    assert done["summarizer"] == "offline"
    assert "editor" in done["warnings"][0]


def test_an_editor_that_does_not_offer_it_is_never_asked(fresh: RawServer) -> None:
    fresh.initialize(hello(sampling=False))
    done = fresh.result("coppice/compact", {"conversationId": conversation(fresh)})
    assert done["summarizer"] == "offline"
    assert all(message.get("method") != "coppice/sample" for message in fresh.seen)


def test_a_cancelled_compaction_takes_its_question_back(fresh: RawServer) -> None:
    fresh.initialize(hello(sampling=True))
    made = conversation(fresh)
    compacting = fresh.start_request("coppice/compact", {"conversationId": made})
    request = sample_request(fresh)
    fresh.notify("$/cancelRequest", {"id": compacting})
    assert fresh.answer(compacting)["error"]["code"] == -32800
    assert fresh.notification("$/cancelRequest") == {"id": request["id"]}
