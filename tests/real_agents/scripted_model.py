"""A model server on loopback that does what a test says, in the dialects that the agents speak."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

Json = dict[str, Any]
_IDS = count(1)


@dataclass(frozen=True)
class Asked:
    """What an agent asks. `tools` are the names that the model could call."""

    path: str
    body: Json

    @property
    def text(self) -> str:
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def messages(self) -> list[Any]:
        listed: Any = next((self.body[name] for name in _MESSAGES if self.body.get(name)), [])
        return listed if isinstance(listed, list) else [listed]

    @property
    def last(self) -> str:
        return json.dumps(self.messages[-1:], ensure_ascii=False)

    @property
    def tools(self) -> list[str]:
        return [name for tool in self.body.get("tools") or [] for name in _names(tool)]


@dataclass(frozen=True)
class Answer:
    """What the model says; `tool` names a tool that it calls, `tokens` is how long the request was.

    Of the tokens `read` came from the provider's cache, and `written` went into it.
    """

    text: str = ""
    tool: str | None = None
    arguments: Json = field(default_factory=dict)
    namespace: str | None = None
    tokens: int = 1000
    read: int = 0
    written: int = 0


_MESSAGES = ("messages", "input", "contents")
Script = Callable[[Asked], Answer]


class ScriptedModel:
    """Answers every request as `script` says, and keeps what was asked."""

    def __init__(self) -> None:
        self.script: Script = lambda _: Answer("ok")
        self.asked: list[Asked] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": self}))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        return self.script(asked)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ScriptedModel

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        listed = {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
        self._send(json.dumps(listed).encode(), "application/json")

    def do_HEAD(self) -> None:
        self._send(b"", "application/json")

    def do_POST(self) -> None:
        body = self._body()
        path = self.path.partition("?")[0]
        dialect = next((made for ending, made in _DIALECTS.items() if path.endswith(ending)), None)
        if dialect is None:
            self._send(b'{"input_tokens": 1000}', "application/json")
            return
        whole, events = dialect(self.model.answer(Asked(path, body)))
        if body.get("stream") or "stream" in path:
            self._send("".join(map(_event, events)).encode(), "text/event-stream")
        else:
            self._send(json.dumps(whole).encode(), "application/json")

    def _body(self) -> Json:
        raw = b""
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            while size := int(self.rfile.readline().split(b";")[0].strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body: Json = json.loads(raw or b"{}")
        return body

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            with suppress(ConnectionError):  # of an agent that was killed
                self.wfile.write(data)


def _event(value: Json | str) -> str:
    if isinstance(value, str):
        return f"data: {value}\n\n"
    name = f"event: {value['type']}\n" if "type" in value else ""
    return f"{name}data: {json.dumps(value)}\n\n"


def _names(tool: Json) -> Iterator[str]:
    """The names under which a tool, or the tools of a namespace, are called."""
    if "functionDeclarations" in tool:
        yield from (str(each["name"]) for each in tool["functionDeclarations"])
    elif tool.get("type") == "namespace":
        yield from (f"{tool['name']}.{each['name']}" for each in tool.get("tools", []))
    else:
        function = tool.get("function") or tool
        yield str(function.get("name") or tool.get("type"))


def _chat(answer: Answer) -> tuple[Json, list[Json | str]]:
    message: Json = {"role": "assistant", "content": answer.text}
    if answer.tool:
        function = {"name": answer.tool, "arguments": json.dumps(answer.arguments)}
        message["tool_calls"] = [{"id": f"call_{next(_IDS)}", "type": "function", "function": function}]
    reason = "tool_calls" if answer.tool else "stop"
    usage = {
        "prompt_tokens": answer.tokens,
        "prompt_tokens_details": {"cached_tokens": answer.read},
        "completion_tokens": 20,
        "total_tokens": answer.tokens + 20,
    }
    base = {"id": f"chat_{next(_IDS)}", "created": 1, "model": "scripted"}
    delta = {**message, "tool_calls": [{"index": 0, **each} for each in message.get("tool_calls", [])]}
    chunk = {**base, "object": "chat.completion.chunk"}
    whole = {**base, "object": "chat.completion", "usage": usage}
    return {**whole, "choices": [{"index": 0, "message": message, "finish_reason": reason}]}, [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {**chunk, "choices": [], "usage": usage},
        "[DONE]",
    ]


def _responses(answer: Answer) -> tuple[Json, list[Json | str]]:
    items: list[Json] = []
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        message = {"type": "message", "id": f"msg_{next(_IDS)}", "role": "assistant"}
        items.append({**message, "status": "completed", "content": [part]})
    if answer.tool == "tool_search":
        ids = {"id": f"tsc_{next(_IDS)}", "call_id": f"call_{next(_IDS)}"}
        search = {"type": "tool_search_call", "execution": "client", "status": "completed"}
        items.append({**search, **ids, "arguments": answer.arguments})
    elif answer.tool:
        ids = {"id": f"fc_{next(_IDS)}", "call_id": f"call_{next(_IDS)}"}
        call = {"type": "function_call", "name": answer.tool, "arguments": json.dumps(answer.arguments)}
        space = {} if answer.namespace is None else {"namespace": answer.namespace}
        items.append({**call, **ids, **space, "status": "completed"})
    usage = {
        "input_tokens": answer.tokens,
        "input_tokens_details": {"cached_tokens": answer.read},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.tokens + 20,
    }
    base = {"id": f"resp_{next(_IDS)}", "object": "response", "status": "completed"}
    response = {**base, "output": items, "usage": usage}
    events: list[Json | str] = [{"type": "response.created", "response": {**response, "output": []}}]
    events += [
        {"type": "response.output_item.done", "output_index": number, "item": item}
        for number, item in enumerate(items)
    ]
    return response, [*events, {"type": "response.completed", "response": response}]


def _messages(answer: Answer) -> tuple[Json, list[Json | str]]:
    blocks: list[Json] = [{"type": "text", "text": answer.text}] if answer.text else []
    if answer.tool:
        blocks.append(
            {"type": "tool_use", "id": f"toolu_{next(_IDS)}", "name": answer.tool, "input": answer.arguments}
        )
    usage = {
        "input_tokens": answer.tokens - answer.read - answer.written,
        "cache_read_input_tokens": answer.read,
        "cache_creation_input_tokens": answer.written,
        "output_tokens": 20,
    }
    reason = "tool_use" if answer.tool else "end_turn"
    whole: Json = {
        "id": f"msg_{next(_IDS)}",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": blocks,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": usage,
    }
    events: list[Json | str] = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    ]
    for number, block in enumerate(blocks):
        if block["type"] == "text":
            begun: Json = {"type": "text", "text": ""}
            delta: Json = {"type": "text_delta", "text": block["text"]}
        else:
            begun = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events += [
            {"type": "content_block_start", "index": number, "content_block": begun},
            {"type": "content_block_delta", "index": number, "delta": delta},
            {"type": "content_block_stop", "index": number},
        ]
    stop = {"stop_reason": reason, "stop_sequence": None}
    events += [{"type": "message_delta", "delta": stop, "usage": usage}, {"type": "message_stop"}]
    return whole, events


def _contents(answer: Answer) -> tuple[Json, list[Json | str]]:
    parts: list[Json] = [{"text": answer.text}] if answer.text else []
    if answer.tool:
        parts.append({"functionCall": {"name": answer.tool, "args": answer.arguments}})
    content = {"role": "model", "parts": parts}
    usage = {
        "promptTokenCount": answer.tokens,
        "candidatesTokenCount": 20,
        "totalTokenCount": answer.tokens + 20,
    }
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    whole: Json = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
    return whole, [whole]


_DIALECTS: dict[str, Callable[[Answer], tuple[Json, list[Json | str]]]] = {
    "/chat/completions": _chat,
    "/responses": _responses,
    "/messages": _messages,
    ":generateContent": _contents,
    ":streamGenerateContent": _contents,
}
