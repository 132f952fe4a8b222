"""What a client sees of results that JSON cannot say and of failures that nobody foresaw."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp.odd_server import SECRET
from lsp.raw_client import RawServer
from preloaded import python

SERVER = Path(__file__).with_name("odd_server.py")


@pytest.fixture
def odd(tmp_path: Path) -> Iterator[RawServer]:
    with RawServer(tmp_path, [str(SERVER)], python=python()) as server:
        server.initialize({"capabilities": {"window": {"workDoneProgress": True}}})
        yield server


def test_models_with_times_sets_and_no_numbers_are_answered(odd: RawServer) -> None:
    result = odd.result("test/odd")
    assert result == {"moment": "2026-02-03T04:05:06Z", "numbers": [1.5, None, None, None], "names": ["only"]}


def test_plain_values_that_json_cannot_represent_are_answered(odd: RawServer) -> None:
    plain = odd.result("test/plain")
    assert plain | {"set": sorted(plain["set"])} == {
        "moment": "2026-02-03T04:05:06Z",
        "day": "2026-02-03",
        "set": ["a", "b"],
        "nan": None,
        "half": "�",
    }


def test_a_result_that_cannot_be_written_is_an_internal_error(odd: RawServer) -> None:
    assert odd.request("test/unwritable")["error"] == {"code": -32603, "message": "internal error"}


def test_an_unforeseen_failure_shows_its_text_to_neither_client_nor_log(odd: RawServer) -> None:
    assert odd.request("test/secretive")["error"] == {"code": -32603, "message": "internal error"}
    odd.end()
    log = odd.stderr.decode()
    assert "test/secretive failed: builtins.RuntimeError" in log
    assert "caused by builtins.ValueError" in log
    assert SECRET not in log


def test_work_that_was_cancelled_from_inside_is_answered_as_cancelled(odd: RawServer) -> None:
    assert odd.request("test/quitting")["error"]["code"] == -32800


def test_stray_output_stays_out_of_the_protocol(odd: RawServer) -> None:
    assert odd.result("test/chatty") == {"read": ""}
    assert odd.result("test/plain")["day"] == "2026-02-03"
    odd.end()
    assert b"a stray print" in odd.stderr
    assert b"Content-Length: 5" in odd.stderr


def test_progress_never_goes_back_and_ends_when_work_is_stopped(odd: RawServer) -> None:
    request = odd.start_request("test/unending", {"workDoneToken": 0})
    reports = [odd.notification("$/progress") for _ in range(4)]
    assert [report["token"] for report in reports] == [0] * 4
    begin, *rest = [report["value"] for report in reports]
    assert begin == {"kind": "begin", "title": "Unending", "cancellable": True, "percentage": 0}
    assert [(value["message"], value["percentage"]) for value in rest] == [
        ("First", 30),
        ("Second", 30),
        ("Third", 100),
    ]
    odd.notify("window/workDoneProgress/cancel", {"token": 0})
    assert odd.answer(request)["error"]["code"] == -32800
    assert odd.notification("$/progress")["value"]["kind"] == "end"


def test_a_token_in_use_shows_the_first_request_alone(odd: RawServer) -> None:
    first = odd.start_request("test/unending", {"workDoneToken": "t"})
    for _ in range(4):
        odd.notification("$/progress")
    assert odd.result("test/careless", {"workDoneToken": "t"}) == {}
    assert all(message["method"] != "$/progress" for message in odd.seen)
    odd.notify("$/cancelRequest", {"id": first})
    assert odd.answer(first)["error"]["code"] == -32800


def test_progress_that_nobody_ended_is_ended(odd: RawServer) -> None:
    assert odd.result("test/careless", {"workDoneToken": "t"}) == {}
    kinds = [message["params"]["value"]["kind"] for message in odd.seen if message["method"] == "$/progress"]
    assert kinds == ["begin", "end"]


def test_a_token_of_the_server_is_begun_once_the_client_took_it_and_ended(odd: RawServer) -> None:
    request = odd.start_request("test/careless")
    create = next(iter(_asked(odd, "window/workDoneProgress/create")))
    assert odd.answer(request)["result"] == {}
    assert all(message["method"] != "$/progress" for message in odd.seen)
    odd.send({"jsonrpc": "2.0", "id": create["id"], "result": None})
    reports = [odd.notification("$/progress") for _ in range(2)]
    assert [one["value"]["kind"] for one in reports] == ["begin", "end"]
    assert {one["token"] for one in reports} == {create["params"]["token"]}


def test_a_token_that_the_client_refused_is_never_used(odd: RawServer) -> None:
    request = odd.start_request("test/careless")
    [create] = _asked(odd, "window/workDoneProgress/create")
    odd.send({"jsonrpc": "2.0", "id": create["id"], "error": {"code": -32601, "message": "no"}})
    assert odd.answer(request)["result"] == {}
    assert odd.result("test/plain")
    assert all(message["method"] != "$/progress" for message in odd.seen)


def _asked(server: RawServer, method: str) -> list[dict[str, Any]]:
    while (message := server.receive()).get("method") != method:
        server.seen.append(message)
    return [message]


def test_shutdown_stops_long_work_and_answers_it(odd: RawServer) -> None:
    request = odd.start_request("test/unending", {"workDoneToken": 1})
    odd.notification("$/progress")
    shutdown = odd.start_request("shutdown")
    assert odd.answer(request)["error"]["code"] == -32800
    assert odd.answer(shutdown)["result"] is None
    odd.notify("exit")
    assert odd.end() == 0


@pytest.mark.parametrize(
    ("entry", "method"),
    [
        ({"type": "label", "targetId": "e", "label": "here"}, "coppice/label"),
        ({"type": "pin", "targetId": "e", "pinned": True}, "coppice/pin"),
        ({"type": "session_info", "name": "Oaks"}, "coppice/conversation/rename"),
    ],
)
def test_an_entry_that_has_a_method_of_its_own_is_refused_with_its_name(
    server: RawServer, entry: dict[str, Any], method: str
) -> None:
    made = server.result("coppice/conversation/create")["conversation"]["id"]
    question = {"type": "message", "id": "e", "message": {"role": "user", "content": "Plant an oak."}}
    params = {"conversationId": made, "entries": [question, entry]}
    refused = server.request("coppice/append", params)["error"]
    assert refused["code"] == -32602
    assert method in refused["message"]
    assert server.result("coppice/entries", {"conversationId": made})["entries"] == []
