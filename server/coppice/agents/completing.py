"""Completes the summary of a compaction with what it lost, and records with how much of what."""

from pathlib import Path
from typing import Final

from coppice.agents.hook_log import note
from coppice.agents.lost import lost_text
from coppice.compaction.summary import HEADINGS
from coppice.tokens.counting import estimate_tokens

_FACTS: Final = ("## User Messages", "## State", "## Last report")
_NAMES: Final = {heading: heading.lstrip("# ") for heading in (*_FACTS, *HEADINGS)}


def completion(
    agent: str,
    transcript: Path,
    *,
    summary: str | None = None,
    recorded: bool = True,
    is_ahead: bool = False,
    part: str | None = None,
) -> str | None:
    """`lost_text` of an agent's transcript, with a line in the log."""
    text = lost_text(transcript, agent, summary=summary, recorded=recorded, is_ahead=is_ahead, part=part)
    where = "given to the model that writes the summary" if is_ahead else "added to the summary"
    if text is None:
        note(agent, "compaction", "nothing was lost")
    else:
        kinds = ", ".join(f"{name} {tokens:,}" for name, tokens in tokens_by_heading(text).items())
        note(agent, "compaction", f"{estimate_tokens(text):,} tokens {where} ({kinds})")
    return text


def tokens_by_heading(text: str) -> dict[str, int]:
    """By the headings of what was lost, without their marks: the tokens below each, by estimate."""
    below: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line in _NAMES:
            lines = below.setdefault(_NAMES[line], [])
        else:
            lines.append(line)
    return {name: estimate_tokens("\n".join(each)) for name, each in below.items()}
