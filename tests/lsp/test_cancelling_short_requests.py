"""A short request that is cancelled was not done and is answered so, or was done and is answered for."""

import json
import time
from typing import Any

from lsp.raw_client import RawServer, framed


def append(number: int, conversation_id: str) -> dict[str, Any]:
    message = {"role": "user", "content": f"Entry {number}. " + "word " * 2000}
    entries = [{"id": f"n{number}", "type": "message", "message": message}]
    params = {"conversationId": conversation_id, "entries": entries}
    return {"jsonrpc": "2.0", "id": f"append {number}", "method": "coppice/append", "params": params}


def test_what_is_answered_is_what_is_stored(server: RawServer) -> None:
    conversation_id = server.result("coppice/conversation/create", {})["conversation"]["id"]
    for number in range(40):
        request_id = f"append {number}"
        cancel = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": request_id}}
        server.send(append(number, conversation_id))
        time.sleep(number / 4000)
        server.send(cancel)
    answers = {number: server.answer(f"append {number}") for number in range(40)}
    entries = server.result("coppice/entries", {"conversationId": conversation_id, "limit": 1000})["entries"]
    assert [entry["id"] for entry in entries] == [
        f"n{number}" for number, answer in answers.items() if "result" in answer
    ]
    refused = [answer["error"]["code"] for answer in answers.values() if "error" in answer]
    assert set(refused) <= {-32800}


def test_a_request_that_is_cancelled_before_it_began_does_nothing(server: RawServer) -> None:
    conversation_id = server.result("coppice/conversation/create", {})["conversation"]["id"]
    cancel = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "append 1"}}
    request = append(1, conversation_id)
    request["params"]["entries"][0]["message"]["content"] = "short"
    server.send_bytes(b"".join(framed(json.dumps(message).encode()) for message in (request, cancel)))
    assert server.answer("append 1")["error"]["code"] == -32800
    assert server.result("coppice/entries", {"conversationId": conversation_id})["entries"] == []
