"""`coppice forget`: conversations that are not to be kept."""

import asyncio
import sys

import typer

from coppice.cli.exits import UsageError
from coppice.cli.plain import counted, plain_line
from coppice.cli.running import serving, workspace_uri
from coppice.cli.sources import located
from coppice.cli.terminal import console, write_json
from coppice.sources.registry import NAMES


async def forget_conversations(
    conversation: str | None, agent: str | None, *, everything: bool, yes: bool, as_json: bool
) -> None:
    """Delete what is named, after a question at a terminal unless `yes`; print how many they were."""
    if sum((conversation is not None, agent is not None, everything)) != 1:
        raise UsageError("Name one thing to forget: a conversation, --source AGENT or --all.")
    if agent is not None and agent not in NAMES:
        raise UsageError(f"{plain_line(agent, 80)!r} is no source; there are {', '.join(NAMES)}.")
    if not yes:
        _confirm(conversation, agent)
    uri, conversation_id = workspace_uri(None), None
    if conversation is not None:
        conversation_id, uri = await asyncio.to_thread(located, conversation, None)
    async with serving(uri) as service:
        count = await service.following.forget(agent=agent, conversation_id=conversation_id)
    if as_json:
        write_json({"forgotten": count})
        return
    console().print(f"{counted(count, 'conversation')} deleted. The agents' own files are as they were.")
    if conversation is None:
        console().print(
            f"New sessions of {agent or 'all agents'} will be read, unless sources.agents in your settings "
            f"leaves {'it' if agent else 'them'} out."
        )


def _confirm(conversation: str | None, agent: str | None) -> None:
    if not sys.stdin.isatty():
        raise UsageError("Nothing was deleted. Give --yes: it cannot be undone.")
    what = (
        "this conversation" if conversation is not None else f"all that was stored of {agent or 'all agents'}"
    )
    typer.confirm(f"Delete {what}? It cannot be undone.", abort=True)
