"""What the summary of a compaction lost: completes it, and records with how much of what."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from coppice.agents.hook_log import note
from coppice.compaction.asking.summarizer import SummaryRequest
from coppice.compaction.checking.stated import Statements
from coppice.compaction.facts.ledger import LedgerBuilder
from coppice.compaction.summary import HEADINGS, NONE
from coppice.compaction.writing.facts_text import facts_text
from coppice.formats.reading import open_growing, open_session
from coppice.formats.session import SessionReader
from coppice.protocol.ledger import WorkLedger
from coppice.redaction import masked, with_marks
from coppice.summarizers.offline import summarize_offline
from coppice.tokens.counting import estimate_tokens
from coppice.tree.entries import CompactionEntry, Entry
from coppice.tree.messages import text_of
from coppice.tree.tags import escape_tags
from coppice.tree.view import view_of

MAX_TOKENS: Final = 2_400
"""Of a text, by estimate. Codex cuts the middle out of 2,500 tokens, Claude Code of 10,000 characters."""

_TAG: Final = "history-session"
_HEAD: Final = (
    "This session was compacted. From its record, what the summary does not say; history_search and "
    "history_read give the exact text of anything earlier:"
)
_HEAD_UNSEEN: Final = (
    "This session was compacted. From its record, because the summary may lack it; history_search and "
    "history_read give the exact text of anything earlier:"
)
_HEAD_AHEAD: Final = (
    "From the record of this session, also from before earlier compactions. Write the summary in agreement "
    "with it; do not copy it, because it is put before the model after the summary:"
)

_LABEL: Final = re.compile(r"^(?:-|\d{1,3}\.) (?:[A-Z][\w ]{0,40}(?:, replied to)?: )?")
"""What stands before a statement of an offline summary."""
_REQUEST: Final = SummaryRequest(
    history=(),
    turn_prefix=(),
    kept_messages=(),
    previous_summary=None,
    instructions=None,
    max_tokens=4_000,  # more than is shown: part of it is said already
    count_tokens=estimate_tokens,
)

_FACTS: Final = ("## User Messages", "## State", "## Last report")
_NAMES: Final = {heading: heading.lstrip("# ") for heading in (*_FACTS, *HEADINGS)}


class NotCompactedError(ValueError):
    """The transcript has no compaction yet."""


def lost_text(
    transcript: Path,
    format_: str,
    *,
    summary: str | None = None,
    up_to: str | None = None,
    recorded: bool = True,
    is_ahead: bool = False,
    part: str | None = None,
) -> str | None:
    """What is put before the model after a compaction, in MAX_TOKENS; None where nothing was lost.

    Without a `summary` it is that of the newest compaction in the transcript, with what follows it. A given
    one is of the entries up to `up_to`, None where that is not said: a model sees the later ones, too. With
    `recorded` False the agent has not written that yet, and everything counts as lost; with `is_ahead` the
    text is for the model that writes the summary. `part` is the session that is meant in a database.

    Raises NotCompactedError, and ImportFailedError where the transcript cannot be read. CPU-bound.
    """
    if part is None:
        session = open_session(transcript, format_)
    else:
        session = open_growing(transcript, format_, part=part)
    path = _path(session)
    if summary is None and recorded:
        summary = _seen(path)
    elif summary is not None:
        summary = f"{summary}\n{_texts(_after(path, up_to))}"
    head = _HEAD_AHEAD if is_ahead else _HEAD_UNSEEN if summary is None else _HEAD
    ledger = LedgerBuilder(root=session.header.cwd).add(path).ledger
    frame = f"{head}\n<{_TAG}>\n\n</{_TAG}>"
    lost = lost_facts(ledger, MAX_TOKENS - estimate_tokens(frame), summary)
    return f"{head}\n<{_TAG}>\n{escape_tags(with_marks(masked(lost)))}\n</{_TAG}>" if lost else None


def lost_facts(ledger: WorkLedger, tokens: int, seen: str | None) -> str:
    """The user's messages, the state and the last report, then what an offline summary states of the work, in
    `tokens` by estimate: what `seen` does not say; empty where it says everything.
    """
    facts = facts_text(ledger, tokens, seen)
    stated = Statements(f"{seen or ''}\n{facts}")
    left = tokens - estimate_tokens(f"{facts}\n\n")
    lines: list[str] = []
    heading = ""
    for line in summarize_offline(replace(_REQUEST, ledger=ledger)).splitlines():
        if line.startswith("#"):
            heading = line
        elif line.strip() not in ("", NONE) and not stated.say(_LABEL.sub("", line, count=1)):
            fresh = [line] if not heading else [heading, line]
            cost = estimate_tokens("\n".join(["", *fresh]))
            if cost <= left:
                lines += fresh
                left -= cost
                heading = ""
    return "\n\n".join(filter(None, (facts, "\n".join(lines))))


def _path(session: SessionReader) -> list[Entry]:
    """The entries from the root to the leaf."""
    entries = {entry.id: entry for entry in session}
    return list(_from_leaf(entries, session.leaf_id))[::-1]


def _from_leaf(entries: dict[str, Entry], leaf: str | None) -> Iterator[Entry]:
    while leaf is not None and leaf in entries:
        yield entries[leaf]
        leaf = entries[leaf].parent_id


def _seen(path: list[Entry]) -> str:
    """The summary of the newest compaction, and the text of what a model sees with it."""
    cut = next((n for n in reversed(range(len(path))) if isinstance(path[n], CompactionEntry)), None)
    if cut is None:
        raise NotCompactedError("The transcript has no compaction yet.")
    compaction = path[cut]
    assert isinstance(compaction, CompactionEntry)  # noqa: S101 - what was looked for
    first_kept = next((n for n in range(cut) if path[n].id == compaction.first_kept_entry_id), cut)
    return _texts(path[first_kept:], compaction)


def _after(path: list[Entry], record: str | None) -> list[Entry]:
    """The entries after those of a record, whose ids are the record's or begin with it and `#`."""
    records = [entry.id.partition("#")[0] for entry in path]
    return path[len(path) - records[::-1].index(record) :] if record in records else []


def _texts(entries: list[Entry], compaction: CompactionEntry | None = None) -> str:
    messages = [item.message for item in view_of(entries, compaction, "user")]
    return "\n".join(text_of(getattr(message, "content", "")) for message in messages)


def completion(
    agent: str,
    transcript: Path,
    *,
    summary: str | None = None,
    up_to: str | None = None,
    recorded: bool = True,
    is_ahead: bool = False,
    part: str | None = None,
) -> str | None:
    """`lost_text` of an agent's transcript, with a line in the log."""
    text = lost_text(
        transcript, agent, summary=summary, up_to=up_to, recorded=recorded, is_ahead=is_ahead, part=part
    )
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
