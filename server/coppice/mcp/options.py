"""What `coppice mcp` is started with: the workspace, and the agent's session where it says which."""

import os
from dataclasses import dataclass
from typing import Final

SESSION_VARIABLES: Final = ("COPPICE_SESSION_ID", "CLAUDE_CODE_SESSION_ID")
"""Environment variables in which an agent gives the id of its session."""
FOLDER_VARIABLES: Final = ("CLAUDE_PROJECT_DIR",)
"""Environment variables in which an agent gives the folder of its project."""


@dataclass(frozen=True, slots=True)
class Options:
    """`folder` is the workspace's; `session` is the id that the agent gave its running session."""

    folder: str
    session: str | None = None
    agent: str | None = None


def options_of(arguments: list[str]) -> Options:
    """The options, from the command line, the environment or the current folder. Exits on wrong usage."""
    given = _parsed(arguments) if arguments else {}
    return Options(
        folder=given.get("workspace") or _first(FOLDER_VARIABLES) or ".",
        session=given.get("session") or _first(SESSION_VARIABLES),
        agent=given.get("agent"),
    )


def _first(names: tuple[str, ...]) -> str | None:
    return next((value for name in names if (value := os.environ.get(name))), None)


def _parsed(arguments: list[str]) -> dict[str, str | None]:
    import argparse  # noqa: PLC0415 - most clients give no arguments, and wait

    parser = argparse.ArgumentParser(
        prog="coppice mcp",
        description="Serve the history of this project's conversations to one MCP client, on standard input "
        "and output.",
        epilog="Exit codes: 0 the client has left, 2 wrong usage.",
    )
    parser.add_argument(
        "--workspace", metavar="FOLDER", help="the project's folder; default: the current one"
    )
    parser.add_argument("--session", metavar="ID", help="the agent's own id of the running session")
    parser.add_argument("--agent", metavar="NAME", help="the agent's name, the author of its notes")
    return vars(parser.parse_args(arguments))
