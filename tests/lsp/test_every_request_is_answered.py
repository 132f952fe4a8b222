"""One test for each way to send a message wrong. None may hang, crash or silence the server."""

import json
from typing import Any

import pytest
from lsp.raw_client import RawServer, framed

APPEND = "coppice/append"
LIST = "coppice/conversation/list"


def failure(answer: dict[str, Any], code: int, request_id: object) -> dict[str, Any]:
    assert answer["id"] == request_id
    assert answer["jsonrpc"] == "2.0"
    assert "result" not in answer
    assert answer["error"]["code"] == code, answer
    assert answer["error"]["message"]
    return dict(answer["error"])


@pytest.mark.parametrize("call", [{}, {"params": None}, {"params": []}, {"params": {}}])
def test_missing_null_and_empty_params_are_an_empty_object(server: RawServer, call: dict[str, Any]) -> None:
    server.send({"jsonrpc": "2.0", "id": "lenient", "method": LIST, **call})
    assert "conversations" in server.answer("lenient")["result"]


@pytest.mark.parametrize("call", [{}, {"params": None}, {"params": []}])
def test_params_that_are_needed_and_missing_are_named(server: RawServer, call: dict[str, Any]) -> None:
    server.send({"jsonrpc": "2.0", "id": "lacking", "method": APPEND, **call})
    error = failure(server.answer("lacking"), -32602, "lacking")
    assert {"type": "missing", "loc": ["conversationId"], "msg": "Field required"} in error["data"]["errors"]


def test_params_of_the_wrong_type_are_listed_and_not_echoed(server: RawServer) -> None:
    params = {"conversationId": ["hunter2"], "entries": [{"type": "message", "message": {"role": 7}}]}
    error = failure(answer := server.request(APPEND, params), -32602, answer["id"])
    assert ["conversationId"] in [one["loc"] for one in error["data"]["errors"]]
    assert all(one.keys() == {"type", "loc", "msg"} for one in error["data"]["errors"])
    assert "hunter2" not in json.dumps(answer)


@pytest.mark.parametrize("params", [5, "text", True, 1.5, [1], ["a", {}]])
def test_params_that_are_no_object_are_refused(server: RawServer, params: Any) -> None:
    failure(answer := server.request(APPEND, params), -32602, answer["id"])


@pytest.mark.parametrize("key", ["file-path", "class", "", "type_name", "jsonrpc", "ключ", "a b", "1"])
def test_keys_that_are_no_identifiers_arrive_as_they_were_sent(server: RawServer, key: str) -> None:
    conversation = server.result("coppice/conversation/create", {"workspaceUri": "file:///keys"})
    about = {"conversationId": conversation["conversation"]["id"]}
    call = {"type": "toolCall", "id": "1", "name": "read", "arguments": {key: {key: "value"}}}
    message = {"role": "assistant", "content": [call]}
    server.result(APPEND, {**about, "entries": [{"type": "message", "message": message}]})
    [entry] = server.result("coppice/entries", about)["entries"]
    assert entry["message"] == message


def test_an_unknown_property_is_ignored(server: RawServer) -> None:
    assert "conversations" in server.result(LIST, {"file-path": 1, "jsonrpc": "1.0", "type_name": "x"})


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"not json",
        b"",
        b'{"jsonrpc":"2.0","id":1,"method":"coppice/tree","params":{"limit":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"coppice/tree","params":{"limit":1e999}}',
        b'{"jsonrpc":"2.0","id":1,"method":"coppice/tree","params":{"limit":' + b"9" * 5000 + b"}}",
        b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}',
        b"\x00\x01\x02",
    ],
    ids=["torn", "prose", "empty", "NaN", "beyond-double", "digits", "latin", "raw-surrogate", "binary"],
)
def test_a_body_that_is_no_json_is_a_parse_error(server: RawServer, body: bytes) -> None:
    if body:
        server.send_bytes(framed(body))
    else:
        server.send_bytes(b"Content-Length: 0\r\n\r\n")
    failure(server.answer(None), -32700, None)


@pytest.mark.parametrize("batch", [[], [{"jsonrpc": "2.0", "id": 1, "method": LIST}]])
def test_a_batch_is_refused_as_one(server: RawServer, batch: list[Any]) -> None:
    server.send(batch)
    failure(server.answer(None), -32600, None)


@pytest.mark.parametrize("value", [5, "text", None, True, 1.5])
def test_json_that_is_no_object_is_refused(server: RawServer, value: Any) -> None:
    server.send(value)
    failure(server.answer(None), -32600, None)


@pytest.mark.parametrize("bad", [None, 1.5, 1.0, True, False, [], {}])
def test_an_id_that_names_nothing_is_refused(server: RawServer, bad: Any) -> None:
    server.send({"jsonrpc": "2.0", "id": bad, "method": LIST})
    failure(server.answer(None), -32600, None)


@pytest.mark.parametrize("good", [0, -1, 2**70, "", "a", "ключ"])
def test_any_integer_or_string_is_an_id(server: RawServer, good: Any) -> None:
    server.send({"jsonrpc": "2.0", "id": good, "method": LIST})
    assert "result" in server.answer(good)


@pytest.mark.parametrize("method", [None, 5, [], {}, True])
def test_a_method_that_is_no_string_is_refused(server: RawServer, method: Any) -> None:
    server.send({"jsonrpc": "2.0", "id": "m", "method": method})
    failure(server.answer("m"), -32600, "m")


def test_a_request_without_a_method_is_refused(server: RawServer) -> None:
    server.send({"jsonrpc": "2.0", "id": "m", "params": {}})
    failure(server.answer("m"), -32600, "m")


def test_an_empty_object_is_refused(server: RawServer) -> None:
    server.send({})
    failure(server.answer(None), -32600, None)


@pytest.mark.parametrize("version", [{}, {"jsonrpc": "1.0"}, {"jsonrpc": 2.0}, {"jsonrpc": None}])
def test_another_version_of_json_rpc_is_refused(server: RawServer, version: dict[str, Any]) -> None:
    server.send({"id": "v", "method": LIST, **version})
    failure(server.answer("v"), -32600, "v")


@pytest.mark.parametrize(
    "method", ["coppice/none", "", "textDocument/hover", "$/anything", "__init__", "coppice/compactionEnded"]
)
def test_an_unknown_method_is_not_found(server: RawServer, method: str) -> None:
    failure(answer := server.request(method, {}), -32601, answer["id"])


def test_a_notification_sent_as_a_request_is_not_found(server: RawServer) -> None:
    failure(answer := server.request("initialized", {}), -32601, answer["id"])


def test_a_second_initialize_is_refused(server: RawServer) -> None:
    failure(answer := server.request("initialize", {}), -32600, answer["id"])


def test_notifications_are_never_answered(server: RawServer) -> None:
    for message in (
        {"jsonrpc": "2.0", "method": "coppice/none"},
        {"jsonrpc": "2.0", "method": LIST},
        {"jsonrpc": "2.0", "method": APPEND, "params": 5},
        {"jsonrpc": "2.0", "method": "$/cancelRequest"},
        {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": [1]}},
        {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "nobody"}},
        {"jsonrpc": "2.0", "method": "$/setTrace", "params": {"value": "loud"}},
        {"jsonrpc": "2.0", "method": "window/workDoneProgress/cancel", "params": {"token": {}}},
        {"jsonrpc": "2.0", "method": "workspace/didChangeConfiguration", "params": 5},
        {"jsonrpc": "2.0", "method": "workspace/didChangeWorkspaceFolders", "params": {"event": 5}},
        {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {}},
        {"method": LIST},
        {"jsonrpc": "2.0", "method": 5},
    ):
        server.send(message)
    assert "result" in server.request(LIST)
    assert all("method" in message for message in server.seen)


@pytest.mark.parametrize("answer", [{"result": 1}, {"error": {"code": 1, "message": "x"}}, {"error": None}])
@pytest.mark.parametrize("request_id", ["nobody", 1, None, [], {}])
def test_an_answer_to_nothing_is_ignored(server: RawServer, request_id: Any, answer: dict[str, Any]) -> None:
    server.send({"jsonrpc": "2.0", "id": request_id, **answer})
    assert "result" in server.request(LIST)
    assert all("method" in message for message in server.seen)


def test_deep_nesting_is_refused_under_its_id(server: RawServer) -> None:
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    failure(server.request(LIST, {"x": deep}), -32600, server._count)


def test_nesting_beyond_the_parser_is_refused(server: RawServer) -> None:
    server.send_bytes(framed(b"[" * 200_000))
    assert server.answer(None)["error"]["code"] in (-32600, -32700)


def test_half_a_surrogate_pair_becomes_a_replacement_character(server: RawServer) -> None:
    server.send_bytes(
        framed(
            b'{"jsonrpc":"2.0","id":"s","method":"coppice/conversation/create",'
            b'"params":{"workspaceUri":"file:///s","name":"cut \\ud83d here \\ud83d\\ude00"}}'
        )
    )
    conversation = server.answer("s")["result"]["conversation"]
    assert conversation["name"] == "cut � here \U0001f600"


def test_a_surrogate_in_an_id_is_answered(server: RawServer) -> None:
    server.send_bytes(framed(b'{"jsonrpc":"2.0","id":"\\ud83d","method":"coppice/conversation/list"}'))
    assert "result" in server.answer("�")


def test_a_message_of_eight_megabytes_is_answered(server: RawServer) -> None:
    assert "conversations" in server.result(LIST, {"padding": "x" * 8_000_000})


def test_a_huge_number_is_refused_as_params(server: RawServer) -> None:
    failure(answer := server.request(LIST, {"limit": 10**400}), -32602, answer["id"])


def test_a_long_wrong_value_is_not_sent_back(server: RawServer) -> None:
    params = {"conversationId": "x", "entries": [{"type": "secret" * 100_000}]}
    failure(answer := server.request(APPEND, params), -32602, answer["id"])
    assert len(json.dumps(answer)) < 10_000


def test_many_faults_are_listed_up_to_a_limit(server: RawServer) -> None:
    error = failure(answer := server.request(APPEND, {"entries": [{}] * 5_000}), -32602, answer["id"])
    assert 1 < len(error["data"]["errors"]) <= 50


def test_a_refusal_has_a_code_for_programs_and_a_sentence_for_people(server: RawServer) -> None:
    error = failure(
        answer := server.request(
            APPEND, {"conversationId": "nobody", "entries": [{"type": "custom", "customType": "x"}]}
        ),
        -32803,
        answer["id"],
    )
    assert error["data"]["code"] == "unknown-conversation"
    assert error["message"].endswith(".")


def test_two_requests_in_work_cannot_share_an_id(server: RawServer) -> None:
    twin = framed(json.dumps({"jsonrpc": "2.0", "id": "twin", "method": LIST}).encode())
    server.send_bytes(twin + twin)
    answers = [server.answer("twin"), server.answer("twin")]
    refused = next(answer for answer in answers if "error" in answer)
    failure(refused, -32600, "twin")
    assert sum("result" in answer for answer in answers) == 1


@pytest.mark.parametrize(
    "params",
    [
        5,
        "x",
        {"command": 5},
        {"command": "none"},
        {"command": "coppice.server.list", "arguments": 5},
        {"command": "coppice.server.list", "arguments": [{}, {}]},
        {"command": "coppice.server.tree"},
        {"command": "coppice.server.tree", "arguments": [7]},
    ],
)
def test_a_command_that_cannot_be_is_refused(server: RawServer, params: Any) -> None:
    failure(answer := server.request("workspace/executeCommand", params), -32602, answer["id"])


def test_before_initialize_a_request_is_refused(fresh: RawServer) -> None:
    failure(fresh.request(LIST), -32002, 1)
    assert fresh.initialize()["serverInfo"]["name"] == "coppice"


def test_after_shutdown_a_request_is_refused(fresh: RawServer) -> None:
    fresh.initialize()
    assert fresh.result("shutdown") is None
    failure(answer := fresh.request(LIST), -32600, answer["id"])
    failure(answer := fresh.request("initialize", {}), -32600, answer["id"])


@pytest.mark.parametrize("params", [5, "x", [1], True])
def test_an_initialize_that_makes_no_sense_can_be_sent_again(fresh: RawServer, params: Any) -> None:
    failure(fresh.request("initialize", params), -32602, 1)
    assert "capabilities" in fresh.result("initialize", {})


def test_initialize_takes_whatever_a_client_says_about_itself(fresh: RawServer) -> None:
    odd = {
        "processId": "me",
        "rootUri": 5,
        "rootPath": ["x"],
        "workspaceFolders": [None, 5, {"uri": 7}, {"uri": "untitled:x", "name": 1}],
        "capabilities": {
            "window": 5,
            "workspace": {"configuration": "yes", "symbol": {"symbolKind": {"valueSet": [999]}}},
        },
        "initializationOptions": {
            "hooks": "all",
            "sampling": "no",
            "tools": True,
            "settings": {"tokens": {"counter": 5}},
        },
    }
    fresh.result("initialize", odd)
    fresh.notify("initialized")
    assert "conversations" in fresh.result(LIST)
    warnings = [message["params"] for message in fresh.seen if message["method"] == "window/logMessage"]
    assert all(warning["type"] == 2 for warning in warnings)
    messages = " ".join(warning["message"] for warning in warnings)
    for setting in ("initializationOptions.hooks", "initializationOptions.sampling", "tokens.counter"):
        assert setting in messages
