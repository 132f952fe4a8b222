"""A conversation for people to read."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from coppice.formats.session import SessionHeader
from coppice.tree.code import code_span, fence_of
from coppice.tree.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    ContextEditEntry,
    CustomMessageEntry,
    Entry,
    MessageEntry,
    ModelChangeEntry,
)
from coppice.tree.messages import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryRoleMessage,
    CompactionSummaryRoleMessage,
    ImageContent,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    text_of,
)
from coppice.tree.preview import preview_of

RESULT_HEAD_CHARS: Final = 1500  # characters
RESULT_TAIL_CHARS: Final = 500
"""Characters of a tool result that are shown: its beginning, and its end, where errors are: together
as many as a summarizer is given."""

_ROLES: Final = {
    "user": "User",
    "assistant": "Assistant",
    "developer": "Developer",
    "system": "System",
    "custom": "Extension",
    "bashExecution": "User ran a command",
}

_CODE_SPAN: Final = re.compile(r"((?<!`)(`+)(?!`).+?(?<!`)\2(?!`))")
_FENCE_LINE: Final = re.compile(r" {0,3}(`{3,}+|~{3,}+)(.*)")
_LONGEST_LINE_WITH_SPANS: Final = 10_000
"""Characters. In longer lines code spans are not looked for: at worst 10 ms, of 100,000 0.4 s."""

_HEADING: Final = re.compile(r"( {0,3})(#{1,6})(?=[ \t\r]|$)")
_DEEPEST: Final = 6  # CommonMark's
_UNDERLINE: Final = re.compile(r" {0,3}(?:=++|-++)[ \t\r]*+")
"""Makes a heading of the line before it."""
_MESSAGE_LEVEL: Final = 2
"""The level of the headings that name who wrote a message: no text has one of it."""

_HTML: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def write(header: SessionHeader, entries: Iterable[Entry], *, leaf_id: str | None = None) -> Iterator[str]:
    """The path `entries`, root first, as Markdown, piece by piece.

    Tool calls and results are folded, long results shortened; metadata is left out. The text of
    a message is unchanged, except that it can close neither a fold nor a fence.
    """
    del leaf_id
    facts = [("Session", header.session_id), ("Begun", header.created_at), ("Folder", header.cwd)]
    yield title(header.name or "Conversation", facts)
    for entry in entries:
        text = entry_text(entry)
        if text:
            yield text + "\n\n"


def title(words: str, facts: Iterable[tuple[str, str | None]]) -> str:
    """The heading of a document, with the facts that there are under it."""
    shown = [f"{name}: {code(value)}" for name, value in facts if value]
    return "\n\n".join([f"# {inline(words)}", *([" · ".join(shown)] if shown else []), ""])


def entry_text(entry: Entry) -> str:
    """An entry as Markdown; empty for metadata."""
    match entry:
        case MessageEntry():
            return message_text(entry.message)
        case CompactionEntry():
            before = "" if entry.tokens_before is None else f" of {entry.tokens_before:,} tokens"
            title_ = f"**Compaction**{before}: this summary replaces what came before"
            return f"> {title_}\n>\n{quoted(entry.summary)}"
        case BranchSummaryEntry():
            return f"> **Another branch** was left; this happened there\n>\n{quoted(entry.summary)}"
        case ContextEditEntry():
            stay = "; the results stay in the conversation" if entry.cleared else ""
            return f"> **Context edit**: {preview_of(entry)}{stay}"
        case CustomMessageEntry():
            title = f"## {_ROLES['custom']}: {inline(entry.custom_type)}"
            return f"{title}\n\n{_content(entry.content)}" if entry.display else ""
        case ModelChangeEntry():
            return f"*Model: {code(f'{entry.provider}/{entry.model_id}')}*"
        case _:
            return ""


def message_text(message: Message, *, whole: bool = False) -> str:
    """A message as Markdown, with long results shortened unless it is to be `whole`."""
    shown = str if whole else _shortened
    match message:
        case AssistantMessage():
            return _reply(message)
        case ToolResultMessage():
            return _result(message, shown)
        case BashExecutionMessage():
            return f"## {_ROLES[message.role]}\n\n{_command(message, shown)}"
        case BranchSummaryRoleMessage() | CompactionSummaryRoleMessage():
            return f"> **Summary**\n>\n{quoted(message.summary)}"
        case _:
            return f"## {_ROLES[message.role]}\n\n{_content(message.content)}"


def _reply(message: AssistantMessage) -> str:
    parts = [text for block in message.content if (text := _block(block))]
    if message.error_message:
        parts.append(f"*Failed:*\n\n{fenced(message.error_message)}")
    elif message.stop_reason == "aborted":
        parts.append("*Interrupted.*")
    if not parts:
        return ""
    return "\n\n".join([f"## {_ROLES['assistant']}", *parts])


def _content(content: str | list[Any]) -> str:
    blocks = [TextContent(text=content)] if isinstance(content, str) else content
    return "\n\n".join(text for block in blocks if (text := _block(block)))


def _block(block: TextContent | ImageContent | ThinkingContent | ToolCall) -> str:
    match block:
        case TextContent():
            return prose(block.text, deeper=_MESSAGE_LEVEL)
        case ThinkingContent():
            return _folded("Thinking", quoted(block.thinking)) if block.thinking.strip() else ""
        case ImageContent():
            return f"*Image, {code(block.mime_type)}, {len(block.data) * 3 // 4:,} bytes*"
        case ToolCall():
            arguments = json.dumps(block.arguments, ensure_ascii=False, indent=2)
            return _folded(f"Tool call: {block.name}", fenced(arguments, "json"))


def _result(message: ToolResultMessage, shown: Callable[[str], str]) -> str:
    outcome = "failed" if message.is_error else "result"
    body = fenced(shown(text_of(message.content)))
    images = [_block(block) for block in message.content if isinstance(block, ImageContent)]
    return _folded(f"{message.tool_name}: {outcome}", "\n\n".join([body, *images]))


def _command(message: BashExecutionMessage, shown: Callable[[str], str]) -> str:
    ended = f"\n\n*Exit code {message.exit_code}.*" if message.exit_code else ""
    return f"{fenced(f'$ {message.command}')}\n\n{fenced(shown(message.output))}{ended}"


def _folded(title: str, body: str) -> str:
    return f"<details>\n<summary>{escaped(title)}</summary>\n\n{body}\n\n</details>"


def _shortened(text: str) -> str:
    left_out = len(text) - RESULT_HEAD_CHARS - RESULT_TAIL_CHARS
    if left_out <= 0:
        return text
    return (
        f"{text[:RESULT_HEAD_CHARS]}\n\n[… {left_out:,} characters left out …]\n\n{text[-RESULT_TAIL_CHARS:]}"
    )


def prose(text: str, *, deeper: int = 0) -> str:
    """`text` as Markdown of its own: HTML in it shows as text, a fence it leaves open is closed, and its
    headings are so many levels `deeper`.
    """
    lines: list[str] = []
    fence = indent = before = ""
    for line in text.strip("\n").split("\n"):
        # A fence in an item of a list ends with the item.
        is_code = bool(fence) and line.startswith(indent)
        lines.append(line if is_code else _deeper(_without_html(line), before, deeper))
        if not fence:
            indent = line[: len(line) - len(line.lstrip(" "))]
        fence, before = _fence_after(line, fence), line
    return "\n".join([*lines, fence] if fence else lines)


def _deeper(line: str, before: str, levels: int) -> str:
    """A line, with the heading that it is some levels deeper; what makes one of the line before is text."""
    if levels and (heading := _HEADING.match(line)):
        return f"{heading[1]}{'#' * min(_DEEPEST, len(heading[2]) + levels)}{line[heading.end() :]}"
    is_underline = levels and before.strip() and _UNDERLINE.fullmatch(line)
    return f"\\{line.lstrip(' ')}" if is_underline else line


def fenced(text: str, language: str = "") -> str:
    """`text` word for word, in a fence longer than any run of backticks in it."""
    fence = fence_of(text)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def quoted(text: str) -> str:
    """`text` as a block quote."""
    return "\n".join(f"> {line}".rstrip() for line in prose(text).split("\n"))


def inline(text: str) -> str:
    """`text` on one line, as words."""
    return escaped(" ".join(text.split()))


def code(text: str) -> str:
    """`text` on one line, as code."""
    return code_span(" ".join(text.split()))


def escaped(text: str) -> str:
    """`text` with the characters of HTML as entities."""
    return text.translate(_HTML)


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open after `line`, given the one open before it."""
    match = _FENCE_LINE.fullmatch(line.rstrip("\r"))
    if match is None:
        return fence
    marks, rest = match.groups()
    if not fence:
        return "" if marks[0] == "`" and "`" in rest else marks
    closes = marks[0] == fence[0] and len(marks) >= len(fence) and not rest.strip()
    return "" if closes else fence


def _without_html(line: str) -> str:
    if len(line) > _LONGEST_LINE_WITH_SPANS:
        return line.replace("<", "&lt;")
    parts = _CODE_SPAN.split(line)
    plain = [part if index % 3 else part.replace("<", "&lt;") for index, part in enumerate(parts)]
    return "".join(part for index, part in enumerate(plain) if index % 3 != 2)  # noqa: PLR2004 - the inner group
