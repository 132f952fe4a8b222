"""What an agent runs at certain moments: `python -m coppice.agents.hook AGENT [EVENT]`.

The agent's event is on standard input, as it writes it; the answer, on standard output, is put before the
model. An agent never fails because of this: without an answer nothing is printed, and the reason is a line in
`hooks.log` in Coppice's configuration directory, which `coppice status` shows.
"""

import json
import os
import sys
import time
from _thread import start_new_thread  # `threading` costs 4 ms
from typing import Final

from coppice.agents.events import WHEN_LATE, answer_to

TIME_LIMIT: Final = 25.0
"""Seconds after which nothing is answered; the agent is configured to wait for a little longer."""

LATE: Final = 75
"""The exit code of a hook that gave up: EX_TEMPFAIL of sysexits.h."""

_TIME_LIMITS: Final = {"CompactionBegun": 90.0}
"""Of the events that take longer: a summary is written for `REPLACING_SECONDS`."""

_MAX_INPUT: Final = 2**24  # bytes of an event: a tool's result is in some


def main(arguments: list[str]) -> int:
    """Answer one event; 0, or `LATE`."""
    agent, name = (*arguments, "", "")[:2]
    limit = _TIME_LIMITS.get(name, TIME_LIMIT)
    start_new_thread(_give_up, (agent, limit))
    try:
        event = json.loads(sys.stdin.buffer.read(_MAX_INPUT))
        answer = answer_to(agent, event, name or None)
        if answer is not None:
            sys.stdout.write(answer + "\n")
            sys.stdout.flush()
    except Exception as error:  # noqa: BLE001 - the agent goes on, whatever it is
        _log_failure(agent, f"{type(error).__name__}: {error}")
    os._exit(0)


def _give_up(agent: str, limit: float) -> None:
    time.sleep(limit)
    try:
        _log_failure(agent, f"no answer within {limit:.0f} seconds")
        for each in WHEN_LATE:
            each()
    finally:
        os._exit(LATE)


def _log_failure(agent: str, text: str) -> None:
    from coppice.agents.hook_log import note  # noqa: PLC0415 - most events need none of it

    note(agent, "failure", text)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
