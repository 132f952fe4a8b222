"""The real server with methods of its own that end as no method should."""

import asyncio
import os
import sys
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from pydantic import Field

from coppice.lsp import features
from coppice.lsp.serve import serve_stdio
from coppice.lsp.server import CoppiceServer
from coppice.service.jobs import Progress
from coppice.service.messages.base import NoParams, WireModel
from coppice.service.methods import METHODS, Method
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
        "naive": MOMENT.replace(tzinfo=None),
        "elsewhere": MOMENT.astimezone(timezone(timedelta(hours=9))),
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


async def _unending(_: Service, __: Any, progress: Progress) -> Any:
    progress.begin("Unending")
    progress.report("First", 30)
    progress.report("Second", 10)
    progress.report("Third", 900)
    return await asyncio.Event().wait()


async def _careless(_: Service, __: Any, progress: Progress) -> Any:
    progress.report("Too early", 5)
    progress.begin("Careless")
    progress.begin("Again")
    return {}


CALLS = {
    "odd": _odd,
    "plain": _plain,
    "unwritable": _unwritable,
    "chatty": _chatty,
    "secretive": _secretive,
    "quitting": _quitting,
    "unending": _unending,
    "careless": _careless,
}


class TokenParams(NoParams):
    work_done_token: int | str | None = None


def make() -> CoppiceServer:
    odd = {
        f"test/{name}": Method(
            f"test/{name}", TokenParams, NoParams, call, long=name in ("unending", "careless")
        )
        for name, call in CALLS.items()
    }
    server = CoppiceServer({**METHODS, **odd}, lambda emit: Service(emit=emit))
    features.register(server)
    return server


if __name__ == "__main__":
    raise SystemExit(serve_stdio(make))
