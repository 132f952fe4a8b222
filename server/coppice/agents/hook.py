"""What an agent runs after it has compacted a session: `python -m coppice.agents.hook AGENT`.

The agent's event is on standard input, as Claude Code and Codex write it; the answer, on standard output, is
put before the model. An agent never fails because of this: without an answer nothing is printed, and the
reason is a line in `hooks.log` in Coppice's configuration directory, which `coppice status` shows.
"""

import json
import os
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from coppice.settings.files import config_directory

MAX_TOKENS: Final = 2300
"""Of an answer, by estimate. Codex cuts the middle out of 2,500 tokens, Claude Code of 10,000 characters."""

TIME_LIMIT: Final = 25.0
"""Seconds after which nothing is answered; the agent is configured to wait for a little longer."""

_LOG: Final = "hooks.log"
_LOG_LINES: Final = 50  # lines that are kept (guess: a few weeks of failures)
_MAX_INPUT: Final = 2**20  # bytes of an event (guess: it has paths and ids)
_HEAD: Final = (
    "This session was compacted. From the record of it that Coppice keeps, because the summary may lack it; "
    "history_search and history_read give the exact text of anything earlier:"
)


def main(arguments: list[str]) -> int:
    """Answer one event; always 0."""
    agent = arguments[0] if arguments else ""
    late = threading.Timer(TIME_LIMIT, _give_up, [agent])
    late.daemon = True
    late.start()
    try:
        event = json.loads(sys.stdin.buffer.read(_MAX_INPUT))
        text = answer_to(event)
        if text is not None:
            sys.stdout.write(json.dumps(text) + "\n")
            sys.stdout.flush()
            note(agent, "answered")
    except Exception as error:  # noqa: BLE001 - the agent goes on, whatever it is
        note(agent, f"{type(error).__name__}: {error}")
    late.cancel()
    # A thread that still reads transcripts shall not hold the agent up.
    sys.stdout.flush()
    os._exit(0)


def answer_to(event: dict[str, Any], environ: dict[str, str] | None = None) -> dict[str, Any] | None:
    """The answer to an event of an agent; None where there is nothing to say.

    Raises CoppiceError where the session cannot be read.
    """
    from coppice.mcp.arguments import OverviewArguments  # noqa: PLC0415 - most events need none of it
    from coppice.mcp.options import FOLDER_VARIABLES, Options  # noqa: PLC0415
    from coppice.mcp.overview import overview  # noqa: PLC0415
    from coppice.mcp.project import Project  # noqa: PLC0415

    if event.get("hook_event_name") != "SessionStart" or event.get("source") != "compact":
        return None
    environ = dict(os.environ) if environ is None else environ
    folder = next((environ[name] for name in FOLDER_VARIABLES if environ.get(name)), event.get("cwd"))
    session = str(event["session_id"])
    project = Project(Options(folder=str(folder or "."), session=session))
    project.transcripts.update()
    history = overview(project, OverviewArguments(session=session, max_tokens=MAX_TOKENS))
    context = f"{_HEAD}\n{history}"
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": context}}


def note(agent: str, text: str) -> None:
    """Adds a line about an agent to the log."""
    file = log_file()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        line = " ".join(f"{now} {agent} {text}".split())
        file.write_text("\n".join([*lines[1 - _LOG_LINES :], line]) + "\n", encoding="utf-8")


def last_note(agent: str) -> str | None:
    """The newest line about an agent; None where there is none."""
    try:
        lines = log_file().read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return next((line for line in reversed(lines) if line.split()[1:2] == [agent]), None)


def _give_up(agent: str) -> None:
    note(agent, f"no answer within {TIME_LIMIT:.0f} seconds")
    os._exit(0)


def log_file() -> Path:
    """Where the lines about the hooks of all agents are."""
    return config_directory() / "agents" / _LOG


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
