"""How long it takes to store the transcripts of an agent, and to look whether there is anything new.

    python tests/benchmarks/transcript_intake.py [TRANSCRIPTS] [TURNS]

Transcripts of Pi, of so many turns each (a prompt, a call, its result and an answer), in one workspace and a
folder of their own, which is deleted. Prints a line a measurement.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from coppice.service.conversations.following import Updated
from coppice.service.service import Service

WORDS = [
    "the",
    "build",
    "of",
    "the",
    "parser",
    "fails",
    "in",
    "module",
    "{}",
    "because",
    "the",
    "token",
    "table",
    "has",
    "no",
    "entry",
    "for",
    "{}",
]


def line(number: int, role: str, content: list[dict[str, Any]], **more: Any) -> str:
    parent = None if number == 0 else f"e{number - 1}"
    message = {"role": role, "content": content, **more}
    entry = {
        "type": "message",
        "id": f"e{number}",
        "parentId": parent,
        "timestamp": "2026-01-01T00:00:00.000Z",
    }
    return json.dumps({**entry, "message": message})


def text(session: int, number: int, times: int = 4) -> list[dict[str, Any]]:
    words = " ".join(WORDS).format(f"m{session}", f"w{number}")
    return [{"type": "text", "text": f"{words}. " * times}]


def turn(session: int, first: int) -> list[str]:
    call = {"type": "toolCall", "id": f"c{first}", "name": "bash", "arguments": {"command": f"make m{first}"}}
    return [
        line(first, "user", text(session, first)),
        line(first + 1, "assistant", [*text(session, first, 1), call], provider="p", stopReason="toolUse"),
        line(
            first + 2,
            "toolResult",
            text(session, first, 12),
            toolCallId=f"c{first}",
            toolName="bash",
            isError=False,
        ),
        line(first + 3, "assistant", text(session, first), provider="p", stopReason="stop"),
    ]


def write(folder: Path, workspace: Path, transcripts: int, turns: int) -> Path:
    sessions = folder / "sessions" / "--work--"
    sessions.mkdir(parents=True)
    for number in range(transcripts):
        header = {
            "type": "session",
            "version": 3,
            "id": f"s{number}",
            "timestamp": "2026-01-01T00:00:00.000Z",
        }
        lines = [json.dumps({**header, "cwd": str(workspace)})]
        for each in range(turns):
            lines += turn(number, 4 * each)
        path = sessions / f"s{number:06}.jsonl"
        path.write_text("\n".join(lines) + "\n")
        os.utime(path, (1_700_000_000 + number,) * 2)
    return path


async def measure(transcripts: int, turns: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ |= {
            "COPPICE_STORAGE_DIRECTORY": str(folder / "stores"),
            "COPPICE_CONFIG_DIRECTORY": str(folder / "config"),
            "PI_CODING_AGENT_DIR": str(folder / "pi"),
            "HOME": str(folder),
        }
        workspace = folder / "work"
        workspace.mkdir()
        last = write(folder / "pi", workspace, transcripts, turns)
        size = last.stat().st_size * transcripts / 1e6
        print(f"{transcripts:,} transcripts of {4 * turns} entries, {size:,.0f} MB")
        service = Service()
        uri = workspace.as_uri()
        await service.start([uri], {})

        async def timed(what: str) -> Updated:
            started, used = time.perf_counter(), time.process_time()
            updated = await service.following.update(uri)
            print(f"{what}: {time.perf_counter() - started:.2f} s, {time.process_time() - used:.2f} computed")
            return updated

        assert (await timed("first")).read == transcripts
        for _ in range(3):
            assert (await timed("nothing new")).read == 0
        for number in range(turns, turns + 3):
            with last.open("a") as file:
                file.write("\n".join(turn(0, 4 * number)) + "\n")
            assert (await timed("one turn")).read == 1
        await service.close()
        service = Service()
        await service.start([uri], {})
        assert (await timed("nothing new, another process")).read == 0
        await service.close()


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:3]]
    asyncio.run(measure(*numbers, *(10_000, 5)[len(numbers) :]))
