"""What happened in a conversation, in order: what the user typed, what the assistant wrote, what tools did.

Tools are known by their shape where their name is unknown: a path argument, a patch, a command, an exit
code. A program that calls other tools (code in a string argument) counts as the calls it contains.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from coppice.compaction.ledger.shell import Stage, stages_of
from coppice.compaction.text.sentences import one_line
from coppice.compaction.words import pattern
from coppice.files.tools import FileTouch, touches_of
from coppice.tree.messages import ToolCall

OUTPUT_EDGE: Final = 20_000
"""Characters that are kept of each end of a long output (guess: summaries of runs are at the ends)."""
CODE_CHARS: Final = 200_000  # characters of code that are read (guess)
_LONGEST_PATH: Final = 1_000  # characters of a path (guess)
_COMMAND_NAMES: Final = ("command", "cmd", "script", "commandLine")
_PATH_NAMES: Final = ("path", "file_path", "filePath", "notebook_path", "file", "filename", "uri")
_CONTENT_NAMES: Final = (
    "content",
    "contents",
    "new_string",
    "newString",
    "new_str",
    "newText",
    "text",
    "diff",
    "patch",
)
_SHELLS: Final = ("bash", "sh", "zsh", "pwsh", "powershell", "cmd")
_LITERAL: Final = re.compile(
    r"(?:\b([A-Za-z_]\w{0,40})\"?\s{0,4}[:=]\s{0,4})?(\"(?:[^\"\\\n]|\\.){1,100000}+\")"
)
PATCH_START: Final = "*** Begin Patch"
DIFF_FILE: Final = re.compile(r"^\+\+\+ (?:b/)?(\S{1,400})", re.MULTILINE)
_EXIT_CODE: Final = re.compile(
    r"(exit(?:ed)?(?:[ _-]?(?:code|status))?(?: with)?(?: (?:code|status))?|returned|status)"
    r"[\"'>:= (]{1,4}(-?\d{1,5})\b",
    re.IGNORECASE,
)
_HTTP_OK: Final = 200  # a "status" from here on is HTTP's (RFC 9110); what a program returns is mostly below
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]{0,16}[A-Za-z]")
_HEADER_CHARS: Final = 600  # characters in which the header must end (guess)
_HEADER: Final = re.compile(r"(?:[A-Z][^\n]{0,120}\n){1,8}Output:\n")
"""A few lines about a run, and then what it printed."""
_REJECTED: Final = pattern("REJECTED")


@dataclass(frozen=True, slots=True)
class Action:
    """One tool call with its result, or one command that the user ran.

    `commands` are the shell commands it ran, `changes` and `reads` the files it touched, `written` the texts
    that it put into files. `rejected` means that the user did not allow it.
    """

    entry: str
    tool: str
    arguments: Mapping[str, Any]
    commands: tuple[str, ...]
    changes: tuple[FileTouch, ...]
    reads: tuple[str, ...]
    written: tuple[str, ...]
    output: str
    exit_code: int | None
    failed: bool
    rejected: bool

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The commands of all its command lines, in order."""
        return tuple(stage for command in self.commands for stage in stages_of(command))


def action_of(entry: str, call: ToolCall, output: str, *, is_error: bool) -> Action:
    """The action of `call`, whose result is `output`."""
    text, stated = _unwrapped(output)
    text = edges(_ESCAPES.sub("", text) if "\x1b" in text else text)
    exit_code = stated if stated is not None else exit_code_in(text)
    commands, patches = _embedded(call.arguments)
    touches = _touches(call, patches)
    return Action(
        entry=entry,
        tool=call.name,
        arguments=call.arguments,
        commands=commands,
        changes=tuple(touch for touch in touches if touch.kind != "read"),
        reads=tuple(touch.path for touch in touches if touch.kind == "read"),
        written=tuple(patches) or tuple(texts_named(call.arguments, _CONTENT_NAMES)),
        output=text,
        exit_code=exit_code,
        failed=is_error or bool(exit_code),
        rejected=is_error and bool(_REJECTED.search(text[:600])),
    )


def edges(text: str, edge: int = OUTPUT_EDGE) -> str:
    """Head and tail of a long text."""
    return text if len(text) <= 2 * edge else f"{text[:edge]}\n{text[-edge:]}"


def exit_code_in(output: str) -> int | None:
    """The exit code that the first or last lines of `output` state, if they do."""
    head, tail = output[:400], output[-200:]
    found = [*_EXIT_CODE.finditer(head), *(_EXIT_CODE.finditer(tail) if len(output) > len(head) else ())]
    codes = [int(match[2]) for match in found if match[1].lower()[:4] == "exit" or int(match[2]) < _HTTP_OK]
    return codes[-1] if codes else None


def strings_in(value: object, depth: int = 8) -> Iterator[str]:
    """Every string in a JSON value without the keys; what lies deeper than `depth` is left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and depth:
        for item in value.values():
            yield from strings_in(item, depth - 1)
    elif isinstance(value, list) and depth:
        for item in value:
            yield from strings_in(item, depth - 1)


def _unwrapped(output: str) -> tuple[str, int | None]:
    """The text and the exit code of an output that is a JSON object in a string, or comes under a header."""
    header = _HEADER.match(output[:_HEADER_CHARS])
    if header is not None:
        return output[header.end() :], exit_code_in(header[0])
    if not output.startswith("{") or not output.rstrip().endswith("}"):
        return output, None
    try:
        value = json.loads(output)
    except (ValueError, RecursionError):
        return output, None
    text = next(
        (value[name] for name in ("output", "stdout", "text") if isinstance(value.get(name), str)), None
    )
    if text is None:
        return output, None
    meta = value.get("metadata") if isinstance(value.get("metadata"), dict) else {}
    code = value.get("exit_code", value.get("exitCode", meta.get("exit_code")))
    stderr = value.get("stderr")
    whole = f"{text}\n{stderr}" if isinstance(stderr, str) and stderr else text
    return whole, code if isinstance(code, int) else None


def _embedded(arguments: Mapping[str, Any]) -> tuple[tuple[str, ...], list[str]]:
    """The commands and patches in the arguments: given as such, or as literals in a program's code."""
    patches: list[str] = []
    commands = [command for name in _COMMAND_NAMES if (command := _command(arguments.get(name)))]
    for name, value in arguments.items():
        if not isinstance(value, str) or name in _COMMAND_NAMES:
            continue
        if value.lstrip().startswith(PATCH_START):
            patches.append(value)
        elif "(" in value and ("cmd" in value or "command" in value or PATCH_START in value):
            for match in _LITERAL.finditer(value[:CODE_CHARS]):
                text = literal(match[2])
                if text.lstrip().startswith(PATCH_START):
                    patches.append(text)
                elif match[1] in _COMMAND_NAMES and text.strip():
                    commands.append(text)
    return tuple(commands), patches


def literal(quoted: str) -> str:
    """The text of a string in quotation marks, as JSON reads it where it can."""
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted[1:-1]


def _command(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        program = value[0].rpartition("/")[2].removesuffix(".exe")
        return value[-1] if program in _SHELLS and len(value) > 1 else " ".join(value)
    return ""


def _touches(call: ToolCall, patches: list[str]) -> list[FileTouch]:
    known = touches_of(call, {})
    if known:
        return known
    found = [
        touch
        for patch in patches
        for touch in touches_of(ToolCall(id=call.id, name="apply_patch", arguments={"input": patch}), {})
    ]
    if found or any(isinstance(call.arguments.get(name), str | list) for name in _COMMAND_NAMES):
        return found
    stated = texts_named(call.arguments, ("diff", "patch"))
    diff = next((text for text in stated if DIFF_FILE.search(text[:2_000])), "")
    if diff:
        return [FileTouch(name, "modified") for name in dict.fromkeys(DIFF_FILE.findall(diff[:CODE_CHARS]))]
    paths = (text for text in texts_named(call.arguments, _PATH_NAMES) if "\n" not in text)
    changed = any(texts_named(call.arguments, _CONTENT_NAMES))
    path = next((text for text in paths if len(text) < _LONGEST_PATH), "")
    return [FileTouch(path, "modified" if changed else "read")] if path else []


def texts_named(arguments: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[str]:
    """The texts in `arguments`, or in items of a list there, whose names are one of `names`."""
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str) and value:
            yield value
    for listed in arguments.values():
        for item in listed if isinstance(listed, list) else ():
            if isinstance(item, Mapping):
                yield from (item[name] for name in names if isinstance(item.get(name), str) and item[name])


def relative_to(action: Action, root: str) -> Action:
    """`action` with paths below `root` as they are named from there."""
    return replace(
        action,
        commands=tuple(command.replace(root, "") for command in action.commands),
        changes=tuple(replace(touch, path=touch.path.removeprefix(root)) for touch in action.changes),
        reads=tuple(path.removeprefix(root) for path in action.reads),
        output=action.output.replace(root, ""),
    )


def label_of(action: Action) -> str:
    """What an action is called in a statement: its command, or the tool with its path."""
    if action.commands:
        return one_line(action.commands[0])
    path = action.changes[0].path if action.changes else action.reads[0] if action.reads else ""
    return one_line(f"{action.tool} {path}")
