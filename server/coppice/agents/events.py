"""The events of agents that are answered, and in which form.

What an answer needs is imported for it: most events need none, and the user waits for each.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

Event = dict[str, Any]

WHEN_LATE: Final[list[Callable[[], None]]] = []
"""What is done when the time for an answer is over."""

_COPILOT_SUMMARY: Final = rb'\A\{"type":"session\.compaction_complete"(?!.*"agentId":")'
"""A sub-agent's compaction has its `agentId`."""

_GEMINI_SUMMARY: Final = rb'"id":"([^"]{1,100})"[^{}\[\]]{1,200}\[\{"text":"<state_snapshot>'


def answer_to(agent: str, event: Event, name: str | None = None) -> str | None:
    """What is printed for an event; None where there is nothing to say.

    `name` is the event's, where the agent does not write it into the event. Raises KeyError for an event
    that lacks what it should have, ImportFailedError and NotCompactedError.
    """
    answering = _ANSWERS.get((agent, name or str(event.get("hook_event_name"))))
    return None if answering is None else answering(event)


def _claude_code_mod_begins(event: Event) -> str | None:
    from coppice.agents.claude_code_compaction import begun  # noqa: PLC0415

    return begun(event)


def _claude_code_mod_ends(event: Event) -> str | None:
    from coppice.agents.claude_code_compaction import ended  # noqa: PLC0415

    return ended(event)


def _is_of_mod(event: Event) -> bool:
    from coppice.agents.claude_code_compaction import is_of_mod  # noqa: PLC0415

    return is_of_mod(event["session_id"])


def _claude_code_compacts(event: Event) -> str | None:
    """What is printed goes to the model that writes the summary."""
    if _is_of_mod(event):
        return None
    return _lost("claude-code", event["transcript_path"], recorded=False, is_ahead=True)


def _claude_code_started(event: Event) -> str | None:
    """The transcript does not have the summary yet."""
    if event.get("source") != "compact" or _is_of_mod(event):
        return None
    return _as_context(event, _lost("claude-code", event["transcript_path"], recorded=False))


def _codex_started(event: Event) -> str | None:
    if event.get("source") != "compact":
        return None
    return _as_context(event, _lost("codex", event["transcript_path"]))


def _opencode_compacted(event: Event) -> str | None:
    """The database does not have the whole summary yet."""
    from coppice.agents.completing import completion  # noqa: PLC0415

    folder = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    database = Path(folder, "opencode", "opencode.db")
    text = completion(
        "opencode", database, summary=event["seen"], up_to=event.get("up_to"), part=event["session_id"]
    )
    return None if text is None else json.dumps({"text": text})


def _copilot_went_on(event: Event) -> str | None:
    home = os.environ.get("COPILOT_HOME") or Path.home() / ".copilot"
    transcript = Path(home, "session-state", Path(event["sessionId"]).name, "events.jsonl")
    text = _lost_since("copilot", transcript, _COPILOT_SUMMARY)
    return None if text is None else json.dumps({"additionalContext": text})


def _gemini_went_on(event: Event) -> str | None:
    """A session that is resumed is written with its old summary anew."""
    transcript = event["transcript_path"]
    return _as_context(event, _lost_since("gemini", transcript, _GEMINI_SUMMARY)) if transcript else None


def _as_context(event: Event, text: str | None) -> str | None:
    if text is None:
        return None
    output = {"hookEventName": event["hook_event_name"], "additionalContext": text}
    return json.dumps({"hookSpecificOutput": output})


def _lost(agent: str, transcript: str | Path, *, recorded: bool = True, is_ahead: bool = False) -> str | None:
    from coppice.agents.completing import completion  # noqa: PLC0415 - most events need none of it

    return completion(agent, Path(transcript), recorded=recorded, is_ahead=is_ahead)


def _lost_since(agent: str, transcript: str | Path, mark: bytes) -> str | None:
    """What was lost by a compaction that no event was answered for yet.

    `mark` is a regular expression for what its record has; its group, if any, is the compaction's id.
    """
    from coppice.agents.compactions import newest, remember  # noqa: PLC0415

    compaction = newest(Path(transcript), mark)
    if compaction is None:
        return None
    # It would take as long at each event.
    WHEN_LATE.append(lambda: remember(Path(transcript), compaction))
    try:
        text = _lost(agent, transcript) if compaction.is_new else None
    except ValueError:  # no compaction; the transcript would be read again at each event
        remember(Path(transcript), compaction)
        raise
    remember(Path(transcript), compaction)
    return text


_ANSWERS: Final[dict[tuple[str, str], Callable[[Event], str | None]]] = {
    ("claude-code", "CompactionBegun"): _claude_code_mod_begins,
    ("claude-code", "CompactionEnded"): _claude_code_mod_ends,
    ("claude-code", "PreCompact"): _claude_code_compacts,
    ("claude-code", "SessionStart"): _claude_code_started,
    ("codex", "SessionStart"): _codex_started,
    ("copilot", "postToolUse"): _copilot_went_on,
    ("copilot", "userPromptSubmitted"): _copilot_went_on,
    ("gemini", "AfterTool"): _gemini_went_on,
    ("gemini", "BeforeAgent"): _gemini_went_on,
    ("opencode", "CompactionEnded"): _opencode_compacted,
}
