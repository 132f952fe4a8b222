"""Entries as a model reads them: each between tags that its text cannot close."""

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any, Final

from coppice.protocol.history import is_history_tool
from coppice.redaction import masked, with_marks
from coppice.service.history.calls import CallOf
from coppice.store.search.recalling import RecallRow
from coppice.tree.authorship import ADDED, authorship
from coppice.tree.tags import attribute, escape_tags

ENTRY_TAG: Final = "history-entry"
FRAME_TOKENS: Final = 40
"""Tokens of an entry's tags. Measured: 25 to 45."""
_TIME_CHARS: Final = 16  # characters of an ISO time up to the minute
_RANDOM_ID: Final = re.compile(r"([0-9a-f]{8})-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
"""An id of random digits: its beginning is enough. Others may begin with the time, as their neighbours do."""
_OLD_NAMES: Final = ("old_string", "oldString", "oldText", "old_str", "old_text")
_NEW_NAMES: Final = ("new_string", "newString", "newText", "new_str", "new_text")
_COMMAND_NAMES: Final = ("command", "cmd")


def framed(
    row: RecallRow,
    text: str,
    *,
    session: str | None = None,
    call: CallOf | None = None,
    added: bool = False,
) -> str:
    """An entry or a part of it, with where it comes from: the `session` unless it is the running one.

    `added` is a part of a user's message that an application put there.
    """
    author = ADDED if added else speaker(row)
    facts = {"id": shortened(row.entry_id), "time": row.timestamp[:_TIME_CHARS], "from": author}
    if session is not None:
        facts["session"] = session
    if not row.on_current_path:
        facts["branch"] = "abandoned"
    head = " ".join(f'{name}="{attribute(value)}"' for name, value in facts.items())
    lines = [text.strip("\n").rstrip()]
    about = None if call is None else call.path or call.arguments
    if about is not None and about not in text:
        lines.insert(0, f"$ {about}")
    return f"<{ENTRY_TAG} {head}>\n{safe(chr(10).join(lines))}\n</{ENTRY_TAG}>"


def safe(text: str) -> str:
    """Text of a transcript for a result: without secrets, and unable to open or close a tag of ours."""
    return escape_tags(with_marks(masked(text)))


def speaker(row: RecallRow) -> str:
    """Who wrote an entry: a role, or the tool."""
    if row.type != "message":
        return row.type.replace("_", " ")
    message = row.message
    role = str(message.get("role"))
    if role == "toolResult":
        failed = ", failed" if message.get("isError") else ""
        return f"tool {message.get('toolName')}{failed}"
    return "tool, run by the user" if role == "bashExecution" else role


def may_be_shown(row: RecallRow) -> bool:
    """Not what the user excluded from the context, and no results of these tools: they repeat others."""
    return not row.message.get("excludeFromContext") and not is_history_tool(row.tool_name)


def entry_text(row: RecallRow) -> tuple[str, str]:
    """The whole text of an entry; calls with their arguments, edits as the lines that go and come, patches
    and other texts line by line. And whose each of its characters is.
    """
    parts = list(_parts_of(row))
    text = "\n".join(parts)
    return text, authorship(parts) if row.role == "user" else "u" * len(text)


def _parts_of(row: RecallRow) -> Iterator[str]:
    message = row.message
    if message.get("role") == "bashExecution":
        yield f"$ {message.get('command')}\n{message.get('output')}"
        return
    holder = message or row.body
    content = holder.get("content", holder.get("summary"))
    if isinstance(content, list):
        yield from _blocks(content)
    else:
        yield str(content or "")
    if message.get("role") != "assistant":
        yield from _edits(message.get("details"))


def _blocks(content: list[Any]) -> Iterator[str]:
    for block in content:
        if not isinstance(block, dict):
            continue
        if block.get("type") == "text":
            yield str(block.get("text"))
        elif block.get("type") == "toolCall":
            yield from _call(str(block.get("name")), block.get("arguments"))


def _call(name: str, arguments: object) -> Iterator[str]:
    if not isinstance(arguments, dict):
        yield f"{name}({arguments})"
        return
    edits = arguments.get("edits") or arguments.get("replacements")
    changes = [arguments, *(edits if isinstance(edits, list) else [])]
    diffs = [line for change in changes if isinstance(change, dict) for line in _diff(change)]
    hidden = {*_OLD_NAMES, *_NEW_NAMES, *(("edits", "replacements") if diffs else ())} if diffs else set()
    shown = {key: value for key, value in arguments.items() if key not in hidden}
    command = next((line for each in _COMMAND_NAMES if (line := _command_line(shown.get(each)))), None)
    texts = {key: value for key, value in shown.items() if isinstance(value, str) and "\n" in value}
    if command is not None:
        yield f"{name}: {command}"
    else:
        short = {key: value for key, value in shown.items() if key not in texts}
        yield f"{name}({json.dumps(short, ensure_ascii=False) if short else ''})"
        yield from texts.values()
    yield from diffs


def _command_line(command: object) -> str | None:
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        # A script is given as it is: quoted it would not be what was written.
        return " ".join(word if "\n" in word else shlex.quote(word) for word in command)
    return command if isinstance(command, str) else None


def _diff(change: dict[str, Any]) -> Iterator[str]:
    """The lines that a replacement takes out and puts in, without those that both begin or end with."""
    old = next((change[name] for name in _OLD_NAMES if isinstance(change.get(name), str)), None)
    new = next((change[name] for name in _NEW_NAMES if isinstance(change.get(name), str)), None)
    if old is None or new is None:
        return
    before, after = old.splitlines(), new.splitlines()
    start, most = 0, min(len(before), len(after))
    while start < most and before[start] == after[start]:
        start += 1
    end = 0
    while end < most - start and before[-1 - end] == after[-1 - end]:
        end += 1
    yield from (f"-{line}" for line in before[start : len(before) - end])
    yield from (f"+{line}" for line in after[start : len(after) - end])


def _edits(details: object) -> Iterator[str]:
    """The patch that a tool stored with its result."""
    patch = details.get("diff", details.get("patch")) if isinstance(details, dict) else None
    if isinstance(patch, str):
        yield patch


def shortened(entry_id: str) -> str:
    """An id as it is shown: the beginning, where that is random."""
    random = _RANDOM_ID.fullmatch(entry_id)
    return random[1] if random is not None else entry_id
