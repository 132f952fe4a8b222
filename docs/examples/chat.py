"""A chat in the terminal about the current folder, whose conversation Coppice keeps: `python chat.py`.

Needs Python alone, `coppice` on PATH, and a model: MODEL_URL (OpenAI-compatible), MODEL_NAME and MODEL_KEY.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

server = subprocess.Popen(["coppice", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def send(**message: object) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    server.stdin.flush()


def receive() -> dict:
    headers = iter(server.stdout.readline, b"\r\n")
    (length,) = [int(line.split(b":")[1]) for line in headers if line.startswith(b"Content-Length")]
    return json.loads(server.stdout.read(length))


def request(method: str, params: dict | None = None) -> dict:
    send(id=method, method=method, params=params)  # one at a time, so the method can be its id
    while (message := receive()).get("id") != method:
        if message.get("method") == "$/progress":
            value = message["params"]["value"]
            print(f"[{value.get('title', '')} {value.get('message', '')}]", file=sys.stderr)
    if "error" in message:
        raise RuntimeError(message["error"]["message"])
    return message["result"]


def append(**message: object) -> dict:
    return request("coppice/append", conversation | {"entries": [{"type": "message", "message": message}]})


def ask_model(messages: list[dict]) -> str:
    body = json.dumps({"model": os.environ["MODEL_NAME"], "messages": messages}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ['MODEL_KEY']}"}
    with urlopen(Request(f"{os.environ['MODEL_URL']}/chat/completions", body, headers)) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


request("initialize", {"processId": os.getpid(), "rootUri": Path.cwd().as_uri(), "capabilities": {}})
send(method="initialized", params={})
conversation = {"conversationId": request("coppice/conversation/create")["conversation"]["id"]}
for line in sys.stdin:
    if append(role="user", content=line.strip())["usage"]["shouldCompact"]:
        request("coppice/compact", conversation | {"workDoneToken": "compaction"})
    reply = ask_model(request("coppice/context", conversation | {"format": "openai"})["messages"])
    append(role="assistant", content=[{"type": "text", "text": reply}])
    print(reply, flush=True)
request("shutdown")
send(method="exit")
