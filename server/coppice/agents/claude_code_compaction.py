"""A compaction of Claude Code's, before and after it, for the mod that calls these. Imports little.

While the mod completes or replaces the summary, the hooks on the same compaction have nothing to add. They
are for versions without mods, and for where mods are switched off.
"""

import glob
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from coppice.agents.hook_log import note
from coppice.agents.program import Program
from coppice.directories import config_directory

AGENT: Final = "claude-code"
REPLACING_SECONDS: Final = 90.0
"""How long a summary may take that replaces Claude Code's own. Pi and Hermes wait as long."""

_MARK: Final = "compacting-"
_MARK_SECONDS: Final = 900
"""After which a mark is of a compaction that never ended. A summary request gives up after ten minutes."""
_HEAD: Final = (
    "This session is continued from an earlier part, which this summary replaces. Go on where the work "
    "stopped; history_search and history_read give the exact text of anything earlier."
)


def begun(event: dict[str, Any]) -> str | None:
    """Marks the compaction as the mod's. Where the user's settings say so, the text that replaces the summary
    and the id of the first message that stays.

    Raises ValueError for a session without a transcript, OSError or RuntimeError without a summary.
    """
    mark = _mark(event["session_id"])
    mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for other in mark.parent.glob(f"{_MARK}*"):
        if not _is_valid(other):
            other.unlink(missing_ok=True)
    mark.touch(mode=0o600)
    return _replacement(event) if _replaces() else None


def ended(event: dict[str, Any]) -> str | None:
    """What Claude Code's summary and the messages after it, `seen`, do not say of the session."""
    from coppice.agents.completing import completion  # noqa: PLC0415 - most events need none of it

    _mark(event["session_id"]).unlink(missing_ok=True)
    if not event["seen"]:
        return None  # it was not compacted
    text = completion(AGENT, _transcript(event["session_id"]), summary=event["seen"])
    return None if text is None else json.dumps({"text": text})


def is_of_mod(session: str) -> bool:
    """Whether the mod completes the compaction that a session is in."""
    return _is_valid(_mark(session))


def _mark(session: str) -> Path:
    return config_directory() / "agents" / f"{_MARK}{quote(Path(session).name, safe='')}"


def _is_valid(mark: Path) -> bool:
    try:
        return time.time() - mark.stat().st_mtime < _MARK_SECONDS
    except OSError:
        return False


def _transcript(session: str) -> Path:
    folder = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude").expanduser()
    named = glob.escape(f"{Path(session).name}.jsonl")
    transcript = next((folder / "projects").glob(f"*/{named}"), None)
    if transcript is None:
        raise ValueError(f"There is no transcript of the session {session[:80]!r}.")
    return transcript


def _replaces() -> bool:
    from coppice.settings.files import USER_FILE, read_user_file  # noqa: PLC0415
    from coppice.settings.layers import resolve, user_layer  # noqa: PLC0415

    values, _ = read_user_file(config_directory() / USER_FILE)
    settings, _ = resolve(user_layer(values))
    return AGENT in settings.agents.replace_summaries


def _replacement(event: dict[str, Any]) -> str:
    from coppice.tree.tags import tagged_summary  # noqa: PLC0415

    transcript = _transcript(event["session_id"])
    wanted = event.get("instructions")
    ran = subprocess.run(  # noqa: S603 - the installed program
        [
            *Program.installed().words,
            "compact",
            str(transcript),
            "--dry-run",
            "--json",
            "--no-references",
            *([f"--instructions={wanted}"] if wanted else []),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=REPLACING_SECONDS - 5,
        check=False,
    )
    try:
        answer = json.loads(ran.stdout)
    except ValueError:
        raise RuntimeError(f"coppice ended with code {ran.returncode}: {ran.stderr[-300:]}") from None
    if "error" in answer:
        raise RuntimeError(answer["error"]["message"])
    entry = answer["result"]["entry"]
    first_kept, _, _ = (entry.get("firstKeptEntryId") or "").partition("#")
    before, after = entry["tokensBefore"], entry["tokensAfter"]
    note(AGENT, "compaction", f"summary by Coppice: {before:,} tokens before, {after:,} after")
    text = f"{_HEAD}\n{tagged_summary('summary', entry['summary'])}"
    return json.dumps({"text": text, "firstKept": first_kept or None})
