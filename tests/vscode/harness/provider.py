"""The tests' provider as a program that reads from standard input what to answer, one JSON object a line.

`{"kind": "turn" | "summary", "text", "thinking", "calls": [[id, name, arguments]], "hangs", "waits",
"status", "headers"}` is one answer, with a `status` other than 200 an error of that text. Turns are
given in the order in which they were read, and the last summary is repeated for later ones. An answer that
`waits` is given up to its middle until `{"kind": "release"}` lets all go on. `{"kind": "models", "models"}`
is the list of models, and `{"kind": "key", "text"}` the only key that is accepted from then on. Standard
output says where the provider is, and then what each request asked. Where no turn is left for a request it
has `{"kind": "sync"}`, to be answered with the same: then everything has been read that was written before.
`{"kind": "clear"}` forgets what was read.
"""

import asyncio
import json
import sys
from collections import deque
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from models.provider_replies import openai_events
from models.provider_server import Exchange, ProviderServer, Reply
from scripted import GOOD

from coppice.tokens.counting import count_tokens

PIECES: Final = 24
"""An answer comes in about so many pieces, so that a reader sees it grow."""


@dataclass(frozen=True)
class Answer:
    kind: str
    text: str = ""
    thinking: str = ""
    calls: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    hangs: bool = False
    waits: bool = False
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    models: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Player:
    turns: deque[Answer] = field(default_factory=deque)
    summary: Answer = field(default_factory=lambda: Answer("summary", GOOD))
    released: asyncio.Event = field(default_factory=asyncio.Event)
    models: list[dict[str, Any]] = field(default_factory=list)
    key: str | None = None
    synced: asyncio.Queue[None] = field(default_factory=asyncio.Queue)

    def add(self, line: str) -> None:
        answer = Answer(**json.loads(line))
        if answer.kind == "release":
            self.released.set()
        elif answer.kind == "sync":
            self.synced.put_nowait(None)
        elif answer.kind == "models":
            self.models = answer.models
        elif answer.kind == "key":
            self.key = answer.text
        elif answer.kind == "clear":
            vars(self).update(vars(Player()))
        elif answer.kind == "summary":
            self.summary = answer
        else:
            self.turns.append(answer)

    async def list_models(self, exchange: Exchange) -> None:
        if not self._has_key(exchange):
            await _fail(exchange, REFUSED)
            return
        await exchange.head(200, "application/json")
        await exchange.send(json.dumps({"object": "list", "data": self.models}).encode())
        await exchange.end()

    async def reply(self, exchange: Exchange) -> None:
        if not self._has_key(exchange):
            await _fail(exchange, REFUSED)
            return
        asks_summary = "<conversation>" in json.dumps(exchange.request.body["messages"][-1])
        print(
            json.dumps({"kind": "summary" if asks_summary else "turn", **exchange.request.body}), flush=True
        )
        answer = self.summary if asks_summary else await self._next_turn()
        if answer.status != HTTPStatus.OK:
            await _fail(exchange, answer)
            return
        usage = (count_tokens(json.dumps(exchange.request.body["messages"])), count_tokens(answer.text))
        await exchange.head()
        if answer.hangs:
            await exchange.until_dropped()
        events = list(
            openai_events(
                answer.text, thinking=answer.thinking, calls=answer.calls, usage=usage, pieces=PIECES
            )
        )
        for number, each in enumerate(events):
            if answer.waits and number == len(events) // 2:
                await self.released.wait()
            await exchange.event(each)
        await exchange.end()

    def _has_key(self, exchange: Exchange) -> bool:
        return self.key is None or exchange.request.headers.get("authorization") == f"Bearer {self.key}"

    async def _next_turn(self) -> Answer:
        if not self.turns:
            # What was written to standard input before a message was sent may be read after its request.
            print(json.dumps({"kind": "sync"}), flush=True)
            await self.synced.get()
        return self.turns.popleft() if self.turns else Answer("turn", "Understood.")


REFUSED: Final = Answer("turn", "Incorrect API key provided.", status=HTTPStatus.UNAUTHORIZED)


async def _fail(exchange: Exchange, answer: Answer) -> None:
    await exchange.head(answer.status, "application/json", **answer.headers)
    await exchange.send(json.dumps({"error": {"message": answer.text}}).encode())
    await exchange.end()


async def main() -> None:
    player = Player()
    list_models: Reply = player.list_models
    async with ProviderServer([player.reply], {"/v1/models": list_models}) as server:
        print(json.dumps({"url": server.url}), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            player.add(line)


asyncio.run(main())
