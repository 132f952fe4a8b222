"""Codex's response items as messages, and its reports of patches as changes of files."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from coppice.formats.codex_scripts import SCRIPT_TOOL, NestedCall, nested_calls
from coppice.formats.lines import UnusableLineError, object_at, objects_at, parse_object
from coppice.tree.entries import FileChange, FileChangeKind
from coppice.tree.messages import (
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserContent,
    present,
)
from coppice.tree.nesting import nests_deeper

CALL_TYPES: Final = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
OUTPUT_TYPES: Final = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output"}
)
PROVIDER_CALL_TYPES: Final = frozenset({"web_search_call", "image_generation_call"})
"""Calls that the provider carries out itself; a rollout does not hold their results."""

_CHANGE_KINDS: Final[Mapping[str, FileChangeKind]] = {
    "add": "created",
    "update": "modified",
    "delete": "deleted",
}
_SHELL_FLAGS: Final = frozenset({"-c", "-lc", "-ic", "-Command", "/c"})
_DATA_URL: Final = re.compile(r"data:([\w.+/-]{1,100});base64,")
_HEAD_CHARS: Final = 500
"""Where an output's header ends at the latest. Codex writes at most five short lines before `Output:`."""

_FAILURES: Final = ("Script failed\n", "apply_patch verification failed")
"""What outputs without an exit code begin with."""

_EXIT_CODE: Final = re.compile(r"(?:Exit code:|Process exited with code) (-?\d{1,10})")


def texts_of(parts: object) -> Iterator[str]:
    """The texts of a content list, part by part; a plain string is one text."""
    if isinstance(parts, str):
        yield parts
    for part in parts if isinstance(parts, list) else []:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]


def thinking_of(item: dict[str, Any]) -> list[ThinkingContent]:
    """The readable reasoning of an item. What is encrypted can be used by its provider alone."""
    text = "\n\n".join([*texts_of(item.get("summary")), *texts_of(item.get("content"))]).strip()
    return [ThinkingContent(thinking=text)] if text else []


def calls_of(item: dict[str, Any]) -> list[ToolCall]:
    """The tool calls of an item: one, or those that a script of the code mode makes.

    The first has the item's call id, the others that id and their number.
    """
    call_id = str(item.get("call_id") or item.get("id") or "")
    name = str(item.get("name") or "unknown")
    match item.get("type"):
        case "function_call":
            return [_function_call(call_id, name, item.get("arguments"))]
        case "custom_tool_call":
            script = item.get("input")
            calls = nested_calls(script) if name == SCRIPT_TOOL and isinstance(script, str) else []
            calls = calls or [NestedCall(name, {"input": script})]
            return [
                ToolCall(
                    id=f"{call_id}#{number}" if number else call_id,
                    name=call.name,
                    arguments=_with_command_line(call.arguments),
                )
                for number, call in enumerate(calls)
            ]
        case kind:
            action = object_at(item, "arguments" if kind == "tool_search_call" else "action")
            arguments = {key: value for key, value in action.items() if key != "type"}
            tool = str(kind).removesuffix("_call")
            return [ToolCall(id=call_id, name=tool, arguments=_with_command_line(arguments))]


def content_of(parts: object) -> list[UserContent]:
    """The texts and images of a content list; a part of another kind becomes its JSON."""
    if isinstance(parts, str):
        return [TextContent(text=parts)]
    content: list[UserContent] = []
    for part in parts if isinstance(parts, list) else []:
        image = part.get("image_url") if isinstance(part, dict) else None
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            content.append(TextContent(text=part["text"]))
        elif isinstance(image, str) and (match := _DATA_URL.match(image)):
            content.append(ImageContent(data=image[match.end() :], mime_type=match[1]))
        else:
            content.append(TextContent(text=json.dumps(part, ensure_ascii=False)))
    return content


def result_of(item: dict[str, Any], call_id: str, tool_name: str, *, failed: bool) -> ToolResultMessage:
    """A tool's result. `failed` is set where another record of the file marks the call as failed.

    `details.exitCode` is the command's exit code where the output names it.
    """
    output = item.get("output")
    if item.get("type") == "tool_search_output":
        # Their descriptions are the harness's.
        output = "\n".join(str(each.get("name")) for each in objects_at(item, "tools"))
    if isinstance(output, dict):
        failed = failed or output.get("success") is False
        output = output.get("content")
    content = _one_text_a_line(content_of(output))
    head = content[0].text if content and isinstance(content[0], TextContent) else ""
    exit_code: int | None = None
    if isinstance(output, str):
        head, exit_code = _unwrapped(output)
        content = [TextContent(text=head)]
    if exit_code is None:
        exit_code = _exit_code(head)
    failed = failed or bool(exit_code) or head.startswith(_FAILURES)
    details = None if exit_code is None else {"exitCode": exit_code}
    return ToolResultMessage(
        tool_call_id=call_id,
        tool_name=tool_name,
        content=content,
        is_error=failed,
        **present(details=details),
    )


def usage_of(info: object) -> Usage | None:
    """The tokens of the last request, of a `token_count`'s `info`; None when nothing was counted."""
    last = object_at(info, "last_token_usage")
    names = ("input_tokens", "cached_input_tokens", "output_tokens", "total_tokens")
    counts = [count for name in names if type(count := last.get(name, 0)) is int]
    if len(counts) < len(names) or not counts[0]:
        return None
    given, cached, output, total = counts
    return Usage(input=max(given - cached, 0), output=output, cache_read=cached, total_tokens=total)


def changes_of(changes: object) -> Iterator[FileChange]:
    """The changes of a patch: `{path: {"type": "update", "move_path": …}}`; once `{path: {"update": …}}`."""
    for path, change in changes.items() if isinstance(changes, dict) else ():
        if not isinstance(change, dict) or not change:
            continue
        kind = change["type"] if isinstance(change.get("type"), str) else next(iter(change))
        inner = change.get(kind)
        moved = (inner if isinstance(inner, dict) else change).get("move_path")
        if isinstance(moved, str):
            yield FileChange(path=moved, kind="renamed", from_path=path, source="tool")
        elif kind in _CHANGE_KINDS:
            yield FileChange(path=path, kind=_CHANGE_KINDS[kind], source="tool")


def _function_call(call_id: str, name: str, given: object) -> ToolCall:
    arguments = given if isinstance(given, dict) else _object_in(given)
    if arguments is not None:
        return ToolCall(id=call_id, name=name, arguments=_with_command_line(arguments))
    written = given if isinstance(given, str) else json.dumps(given)
    return ToolCall(id=call_id, name=name, arguments={}, invalid_arguments=written)


def _object_in(text: object) -> dict[str, Any] | None:
    """The JSON object that is written in `text`; None where there is none that can be kept."""
    if not isinstance(text, str):
        return None
    try:
        value, _ = parse_object(text.encode("utf-8", errors="replace") or b"{}")
    except UnusableLineError:
        return None
    return None if nests_deeper(value) else value


def _with_command_line(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with a list of words under `command` written as the line a person would type."""
    words = arguments.get("command")
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        return arguments
    is_script = len(words) == 3 and words[1] in _SHELL_FLAGS  # noqa: PLR2004 - shell, flag, script
    return {**arguments, "command": words[2] if is_script else shlex.join(words)}


def _unwrapped(output: str) -> tuple[str, int | None]:
    """The text of an output that may be JSON, `{"output": …, "metadata": {"exit_code": …}}`."""
    value = _object_in(output) if output.startswith("{") else None
    if value is None or not isinstance(value.get("output"), str):
        return output, None
    metadata = value.get("metadata")
    exit_code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    if type(exit_code) is not int:
        return value["output"], None
    return (f"Exit code: {exit_code}\n" if exit_code else "") + value["output"], exit_code


def _exit_code(text: str) -> int | None:
    """The exit code in the header that Codex writes over an output."""
    head, separator, _ = text[:_HEAD_CHARS].partition("Output:\n")
    match = _EXIT_CODE.search(head) if separator else None
    return int(match[1]) if match else None


def _one_text_a_line(content: list[UserContent]) -> list[UserContent]:
    """The content with a line break after each text that another follows."""
    return [
        TextContent(text=f"{part.text}\n")
        if isinstance(part, TextContent)
        and part.text
        and part is not content[-1]
        and not part.text.endswith("\n")
        else part
        for part in content
    ]
