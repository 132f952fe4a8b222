"""The real server with methods of its own that end as no method should."""

import asyncio
import os
import sys
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from coppice.lsp import features
from coppice.lsp.connection import serve_stdio
from coppice.lsp.server import CoppiceServer
from coppice.protocol.base import LongParams, WireModel
from coppice.protocol.methods import METHODS, LongMethod, Method
from coppice.protocol.server_requests import ClientPort
from coppice.service.core.progress import Progress
from coppice.service.methods import Dispatcher
from coppice.service.service import Service

SECRET = "sk-live-0123456789"  # noqa: S105 - none
MOMENT = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)


class Odd(WireModel):
    moment: datetime = MOMENT
    numbers: list[float]
    names: set[str] = Field(default={"only"})


async def _raise(error: BaseException) -> Any:
    await asyncio.sleep(0)
    raise error


async def _odd(*_: Any) -> Any:
    return Odd(numbers=[1.5, float("nan"), float("inf"), float("-inf")])


async def _plain(*_: Any) -> Any:
    return {
        "moment": MOMENT,
        "day": MOMENT.date(),
        "set": {"b", "a"},
        "nan": float("nan"),
        "half": "\ud83d",
    }


async def _unwritable(*_: Any) -> Any:
    return {"value": object()}


async def _chatty(*_: Any) -> Any:
    sys.stdout.write("a stray print\n")
    sys.stdout.flush()
    os.write(1, b"Content-Length: 5\r\n\r\nstray")
    return {"read": os.read(0, 10).decode()}


async def _secretive(*_: Any) -> Any:
    raise RuntimeError(SECRET) from ValueError(f"key {SECRET} in {__file__}")


async def _quitting(*_: Any) -> Any:
    return await _raise(asyncio.CancelledError())


async def _unending(_: Any, progress: Progress) -> Any:
    progress.begin("Unending")
    progress.report("First", 30)
    progress.report("Second", 10)
    progress.report("Third", 900)
    return await asyncio.Event().wait()


async def _careless(_: Any, progress: Progress) -> Any:
    progress.report("Too early", 5)
    progress.begin("Careless")
    progress.begin("Again")
    return {}


SHORT = {
    "odd": _odd,
    "plain": _plain,
    "unwritable": _unwritable,
    "chatty": _chatty,
    "secretive": _secretive,
    "quitting": _quitting,
}
LONG = {"unending": _unending, "careless": _careless}


def make() -> CoppiceServer:
    short = {name: Method(f"test/{name}", WireModel, WireModel) for name in SHORT}
    long = {name: LongMethod(f"test/{name}", LongParams, WireModel) for name in LONG}

    def dispatcher(client: ClientPort) -> Dispatcher:
        made = Dispatcher(Service(client))
        for name, work in SHORT.items():
            made.bind_short(short[name], work)
        for name, work in LONG.items():
            made.bind(long[name], work)
        return made

    odd: list[Method[Any, Any]] = [*short.values(), *long.values()]
    server = CoppiceServer(METHODS | {method.name: method for method in odd}, dispatcher)
    features.register(server)
    return server


if __name__ == "__main__":
    serve_stdio(make)
