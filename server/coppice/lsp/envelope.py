"""What a JSON value is as a JSON-RPC message, judged without looking at its params."""

from dataclasses import dataclass
from typing import Any, Final

VERSION: Final = "2.0"

RequestId = int | str


@dataclass(frozen=True, slots=True)
class Request:
    """A call that is answered under `id`."""

    id: RequestId
    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Notification:
    """A call that is not answered."""

    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Response:
    """The client's answer. `error` is None when it is a result."""

    id: RequestId | None
    result: Any
    error: Any


@dataclass(frozen=True, slots=True)
class Invalid:
    """No valid message. It is answered with `reason`, under `id` where it had a usable one."""

    id: RequestId | None
    reason: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """A broken notification: there is nobody to answer."""


Envelope = Request | Notification | Response | Invalid | Ignored


def judge(message: Any) -> Envelope:
    """The envelope of `message`. Params that are missing, null or an empty array are `{}`."""
    if isinstance(message, list):
        return Invalid(None, "a batch; LSP sends each message on its own")
    if not isinstance(message, dict):
        return Invalid(None, "a message is an object")
    if "method" in message:
        return _judge_call(message)
    request_id = valid_id(message.get("id"))
    if "result" in message or "error" in message:
        return Response(request_id, message.get("result"), message.get("error"))
    return Invalid(request_id, "a request needs a method")


def valid_id(value: object) -> RequestId | None:
    """`value` where it can name a request: an integer or a string."""
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None


def _judge_call(message: dict[str, Any]) -> Envelope:
    method, params = message["method"], message.get("params")
    params = {} if params is None or params == [] else params
    well_formed = isinstance(method, str) and message.get("jsonrpc") == VERSION
    if "id" not in message:
        return Notification(method, params) if well_formed else Ignored()
    request_id = valid_id(message["id"])
    if request_id is None:
        return Invalid(None, "an id is an integer or a string")
    if not well_formed:
        return Invalid(request_id, 'jsonrpc is "2.0" and method a string')
    return Request(request_id, method, params)
