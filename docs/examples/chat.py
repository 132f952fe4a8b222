"""A chat in the terminal whose conversation Coppice keeps: `python chat.py FOLDER`.

Needs Python alone, `coppice` on PATH, and a model's address, name and key in MODEL_URL (an OpenAI-compatible
one, such as http://127.0.0.1:11434/v1), MODEL_NAME and MODEL_KEY.
"""

import itertools
import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path


class Coppice:
    def __init__(self, folder: Path) -> None:
        pipe = subprocess.PIPE
        self.server = subprocess.Popen(["coppice", "serve"], stdin=pipe, stdout=pipe)
        self.ids = itertools.count(1)
        about = {"processId": os.getpid(), "rootUri": folder.resolve().as_uri(), "capabilities": {}}
        self.request("initialize", about)
        self.send(method="initialized", params={})

    def send(self, **message: object) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def receive(self) -> dict:
        headers = iter(self.server.stdout.readline, b"\r\n")
        (length,) = [int(line.split(b":")[1]) for line in headers if line.startswith(b"Content-Length")]
        return json.loads(self.server.stdout.read(length))

    def request(self, method: str, params: dict | None = None) -> dict:
        number = next(self.ids)
        self.send(id=number, method=method, params=params)
        while (message := self.receive()).get("id") != number:
            if message.get("method") == "$/progress":
                value = message["params"]["value"]
                print(f"[{value.get('title', '')} {value.get('message', '')}]", file=sys.stderr)
        if "error" in message:
            raise RuntimeError(message["error"]["message"])
        return message["result"]


def ask_model(messages: list[dict]) -> str:
    body = json.dumps({"model": os.environ["MODEL_NAME"], "messages": messages}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ['MODEL_KEY']}"}
    asked = urllib.request.Request(f"{os.environ['MODEL_URL']}/chat/completions", body, headers)
    with urllib.request.urlopen(asked) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


def main() -> None:
    coppice = Coppice(Path(sys.argv[1]))
    conversation = {"conversationId": coppice.request("coppice/conversation/create")["conversation"]["id"]}

    def append(**message: object) -> dict:
        entries = [{"type": "message", "message": message}]
        return coppice.request("coppice/append", {**conversation, "entries": entries})["usage"]

    for line in sys.stdin:
        if append(role="user", content=line.strip())["shouldCompact"]:
            coppice.request("coppice/compact", {**conversation, "workDoneToken": "compaction"})
        context = coppice.request("coppice/context", {**conversation, "format": "openai"})
        reply = ask_model(context["messages"])
        append(role="assistant", content=[{"type": "text", "text": reply}])
        print(reply, flush=True)
    coppice.request("shutdown")
    coppice.send(method="exit")


main()
