"""How soon `history_search` finds a turn that an agent has just written.

    PYTHONPATH=tests python tests/benchmarks/turn_intake.py [MEGABYTES] [TURNS]

For Claude Code, Codex, Pi and opencode each: a session of so many megabytes in a workspace of its own, and a
running `coppice mcp` that has read it. Then turns of 10 kB (a prompt, a call, its result and an answer) are
written, one at a time, with a word that is nowhere else. `found` is the time by the clock from the end of the
writing to the answer of a search for the word, which must hold it; `again` is that of the same search
once more. The difference, in pairs, is what looking, reading, storing and indexing take. `computed` is the
processor time of the server for both searches of a turn. Milliseconds.
"""

import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from mcp_startup import COMMAND, request

LIMIT_MS: Final = 50
SESSION: Final = "0199aaaa-0000-7000-8000-000000000000"
RESULT_WORDS: Final = 1_150
"""With the other messages and the names of the records some 10 kB a turn."""
TABLES: Final = """
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
    revert TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER,
    data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
    time_updated INTEGER, data TEXT);
CREATE INDEX message_session ON message (session_id, time_created, id);
CREATE INDEX part_message ON part (message_id, id);
CREATE INDEX part_session ON part (session_id);
"""
Json = dict[str, Any]


@dataclass
class Turns:
    """The words of the turns. `number` is that of the turn that comes next."""

    number: int = 0
    chance: random.Random = field(default_factory=lambda: random.Random(7))

    def __post_init__(self) -> None:
        letters = "abcdefghijklmnopqrstuvwxyz"
        lengths = (self.chance.randrange(3, 10) for _ in range(5_000))
        self._vocabulary = ["".join(self.chance.choices(letters, k=length)) for length in lengths]

    def words(self, count: int) -> str:
        lines = (" ".join(self.chance.choices(self._vocabulary, k=10)) for _ in range(max(count // 10, 1)))
        return ".\n".join(lines)

    def next(self) -> tuple[str, str, str, str, str]:
        """A word that only this turn has, and the prompt, command, output and answer of the turn."""
        self.number += 1
        only = f"zq{self.number:06}xv"
        return (
            only,
            self.words(40),
            f"make {self.words(10)}",
            self.words(RESULT_WORDS),
            f"{only} {self.words(40)}",
        )


class Lines:
    """A transcript of lines."""

    def __init__(self, home: Path, workspace: Path, turns: Turns) -> None:
        self.turns, self.workspace, self.records = turns, workspace, 0
        self.path = home / self.place()
        self.path.parent.mkdir(parents=True)
        self.file = self.path.open("ab", buffering=0)
        self.write(*self.header())

    def place(self) -> str:
        raise NotImplementedError

    def header(self) -> Iterator[Json]:
        yield from ()

    def records_of(self, prompt: str, command: str, output: str, answer: str) -> Iterator[Json]:
        raise NotImplementedError

    def write(self, *records: Json) -> None:
        self.file.write(b"".join(json.dumps(record).encode() + b"\n" for record in records))

    def turn(self) -> str:
        only, *rest = self.turns.next()
        self.write(*self.records_of(*rest))
        return only

    @property
    def size(self) -> int:
        return self.path.stat().st_size


class ClaudeCode(Lines):
    def place(self) -> str:
        folder = "".join(c if c.isalnum() else "-" for c in str(self.workspace))
        return f".claude/projects/{folder}/{SESSION}.jsonl"

    def records_of(self, prompt: str, command: str, output: str, answer: str) -> Iterator[Json]:
        call = {"type": "tool_use", "id": f"t{self.records}", "name": "Bash", "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": output}
        yield self._record("user", prompt)
        yield self._record("assistant", [{"type": "text", "text": "I look."}, call], stop_reason="tool_use")
        yield self._record("user", [result])
        yield self._record("assistant", [{"type": "text", "text": answer}], stop_reason="end_turn")

    def _record(self, role: str, content: Any, **more: Any) -> Json:
        self.records += 1
        message = {"role": role, "content": content, **more}
        if role == "assistant":
            message |= {"id": f"m{self.records}", "model": "m", "type": "message"}
        return {
            "parentUuid": f"u{self.records - 1}" if self.records > 1 else None,
            "uuid": f"u{self.records}",
            "type": role,
            "sessionId": SESSION,
            "cwd": str(self.workspace),
            "version": "2.1.330",
            "timestamp": now(),
            "message": message,
        }


class Codex(Lines):
    def place(self) -> str:
        return f".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-{SESSION}.jsonl"

    def header(self) -> Iterator[Json]:
        yield self._record("session_meta", id=SESSION, timestamp=now(), cwd=str(self.workspace))

    def records_of(self, prompt: str, command: str, output: str, answer: str) -> Iterator[Json]:
        turn = f"turn{self.records}"
        yield self._record("event_msg", type="task_started", turn_id=turn)
        yield self._item("message", role="user", content=[{"type": "input_text", "text": prompt}])
        arguments = json.dumps({"cmd": command})
        yield self._item("function_call", call_id=turn, name="exec_command", arguments=arguments)
        output = f"Process exited with code 0\nOutput:\n{output}"
        yield self._item("function_call_output", call_id=turn, output=output)
        yield self._item("message", role="assistant", content=[{"type": "output_text", "text": answer}])
        yield self._record("event_msg", type="task_complete", turn_id=turn)

    def _item(self, kind: str, **payload: Any) -> Json:
        return self._record("response_item", type=kind, **payload)

    def _record(self, kind: str, **payload: Any) -> Json:
        self.records += 1
        return {"timestamp": now(), "ordinal": self.records, "type": kind, "payload": payload}


class Pi(Lines):
    def place(self) -> str:
        return f".pi/agent/sessions/--work--/2026-01-01T00-00-00-000Z_{SESSION}.jsonl"

    def header(self) -> Iterator[Json]:
        yield {"type": "session", "version": 3, "id": SESSION, "timestamp": now(), "cwd": str(self.workspace)}

    def records_of(self, prompt: str, command: str, output: str, answer: str) -> Iterator[Json]:
        call_id = f"c{self.records}"
        call = {"type": "toolCall", "id": call_id, "name": "bash", "arguments": {"command": command}}
        yield self._record("user", [text(prompt)])
        yield self._record("assistant", [text("I look."), call], provider="p", stopReason="toolUse")
        named = {"toolCallId": call_id, "toolName": "bash", "isError": False}
        yield self._record("toolResult", [text(output)], **named)
        yield self._record("assistant", [text(answer)], provider="p", stopReason="stop")

    def _record(self, role: str, content: list[Json], **more: Any) -> Json:
        self.records += 1
        parent = f"e{self.records - 1}" if self.records > 1 else None
        entry = {"type": "message", "id": f"e{self.records}", "parentId": parent, "timestamp": now()}
        return {**entry, "message": {"role": role, "content": content, **more}}


class OpenCode:
    """A session in a database with a log, as opencode keeps it."""

    def __init__(self, home: Path, workspace: Path, turns: Turns) -> None:
        self.turns, self.rows, self.size = turns, 0, 0
        folder = home / ".local" / "share" / "opencode"
        folder.mkdir(parents=True)
        self.database = sqlite3.connect(folder / "opencode.db", isolation_level=None)
        self.database.execute("PRAGMA journal_mode = WAL")
        self.database.executescript(TABLES)
        row = (SESSION, str(workspace))
        self.database.execute("INSERT INTO session VALUES (?, NULL, ?, 'Work', '1.18.33', NULL, 1, 1)", row)

    def turn(self) -> str:
        only, prompt, command, output, answer = self.turns.next()
        state = {"status": "completed", "input": {"command": command}, "output": output}
        call = {"type": "tool", "tool": "bash", "callID": f"c{self.rows}", "state": state}
        self.database.execute("BEGIN")
        self._message("user", text(prompt))
        self._message("assistant", text("I look."), call, finish="tool-calls")
        self._message("assistant", text(answer), finish="stop")
        self.database.execute("COMMIT")
        return only

    def _message(self, role: str, *parts: Json, **more: Any) -> None:
        self.rows += 1
        ms = int(time.time() * 1000)
        data = json.dumps({"role": role, "time": {"created": ms, "completed": ms}, **more})
        message = f"msg_{self.rows:08}"
        self.database.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (message, SESSION, ms, ms, data))
        for number, part in enumerate(parts):
            written = json.dumps(part)
            self.size += len(written)
            row = (f"prt_{self.rows:08}{number}", message, SESSION, ms, ms, written)
            self.database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())


class Server:
    """A running `coppice mcp`."""

    def __init__(self, workspace: Path, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=workspace, env=environment
        )
        self._ask("initialize", {"protocolVersion": "2025-06-18"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def search(self, word: str) -> tuple[float, bool]:
        """The milliseconds until the answer, and whether the turn with the word is in it."""
        began = time.perf_counter()
        answer = self._ask("tools/call", {"name": "history_search", "arguments": {"query": word}})
        return (time.perf_counter() - began) * 1000, f"{word} " in answer

    def computed(self) -> float:
        """Milliseconds of processor time since it was started."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def _ask(self, method: str, params: Json) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(request(1, method, params))
        self._process.stdin.flush()
        return self._process.stdout.readline().decode()


def measure(
    made: type[Lines | OpenCode], megabytes: float, turns: int
) -> tuple[list[tuple[float, float]], float]:
    """For each turn the milliseconds until it was found, and those of the same search again; those that were
    computed for a turn.
    """
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        workspace = home / "work"
        workspace.mkdir()
        session = made(home, workspace, Turns())
        while session.size < megabytes * 1e6:
            session.turn()
        environment = {"HOME": name, "PATH": os.environ["PATH"]}
        environment |= {f"COPPICE_{each}_DIRECTORY": str(home / each) for each in ("STORAGE", "CONFIG")}
        with Server(workspace, environment) as server:
            while not server.search(first := session.turn())[1]:
                time.sleep(0.5)  # it is still reading
            server.search(first)
            pairs, before = [], server.computed()
            for _ in range(turns):
                word = session.turn()
                found, is_there = server.search(word)
                assert is_there, f"the turn with {word} was not found"
                pairs.append((found, server.search(word)[0]))
            computed = server.computed() - before
    return pairs, computed / turns


def main(megabytes: float = 5, turns: int = 20) -> None:
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"a session of {megabytes:g} MB, {turns} turns of 10 kB; load {load}; limit {LIMIT_MS} ms")
    for made in (ClaudeCode, Codex, Pi, OpenCode):
        pairs, computed = measure(made, megabytes, turns)
        found, again = zip(*pairs, strict=True)
        intake = [one - other for one, other in pairs]
        print(
            f"{made.__name__:>10}: found {statistics.median(found):.0f} ms (slowest {max(found):.0f}), "
            f"again {statistics.median(again):.0f}; reading and storing {statistics.median(intake):.0f}; "
            f"computed {computed:.0f}"
        )


if __name__ == "__main__":
    main(*(kind(given) for kind, given in zip((float, int), sys.argv[1:], strict=False)))
