"""One tool call with its result, or one command of the user's, in one form whatever tool made it.

Importers bring the calls of each agent to tool calls with named arguments; here those become commands, files,
output and outcome. A tool is recognized by the shape of its arguments where its name is in no table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from shlex import quote
from typing import Any, Final

from coppice.compaction.actions.outputs import left_running, unwrapped, waiting_id
from coppice.compaction.actions.shell import commands_of, divided, outcomes
from coppice.files.shell_scanner import Command
from coppice.files.tools import FileTouch, touches_of
from coppice.tree.messages import BashExecutionMessage, ToolCall

_COMMAND_NAMES: Final = ("command", "cmd", "script", "commandLine")
_DIRECTORY_NAMES: Final = ("workdir", "cwd", "dir_path", "directory")
OLD_NAMES: Final = ("old_string", "oldString", "old_str", "oldText")
_NEW_NAMES: Final = ("new_string", "newString", "new_str", "newText", "content", "contents")
_PATCH_NAMES: Final = ("input", "patch", "patchText", "diff")
_SHELLS: Final = ("bash", "sh", "zsh", "pwsh", "powershell", "cmd")
_NOT_RUN: Final = (
    "[Request interrupted by user",
    "No such tool",
    "Unknown tool",
    "Tool not found",
    "unsupported call",
    "<tool_use_error>",
)
"""How results begin that report that a call was not carried out, without the user's having refused it."""


@dataclass(frozen=True, slots=True)
class Run:
    """One simple command of a call. `succeeded` is None where the status of the whole does not show it; the
    output of a `piped` one goes to the next. `output` is what it printed, empty where what the line printed
    does not show which part is whose.
    """

    command: Command
    succeeded: bool | None
    piped: bool = False
    output: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """A call that was carried out.

    `lines` are the command lines, `runs` the commands in them; `touches` are files that the tool itself read
    or changed, `old` and `new` the texts that its edits replaced and wrote. `by_user` is a command that the
    user ran; `running` the id of one that the tool left running, whose result is not known.
    """

    entry: str
    tool: str
    arguments: Mapping[str, Any]
    output: str
    failed: bool
    lines: tuple[str, ...] = ()
    runs: tuple[Run, ...] = ()
    touches: tuple[FileTouch, ...] = ()
    old: tuple[str, ...] = field(default=())
    new: tuple[str, ...] = field(default=())
    by_user: bool = False
    running: str = ""
    exit_code: int | None = None


def is_not_run(output: str, *, is_error: bool) -> bool:
    """Whether a result reports that the call was not carried out."""
    return is_error and output.lstrip(" \n[").startswith(tuple(text.lstrip("[") for text in _NOT_RUN))


def action_of(entry: str, call: ToolCall, output: str, *, is_error: bool) -> Action:
    """The action of `call`, whose result is `output`."""
    text, exit_code = unwrapped(output)
    failed = is_error or bool(exit_code)
    directory = next((d for name in _DIRECTORY_NAMES if isinstance(d := call.arguments.get(name), str)), "")
    lines = tuple(filter(None, (_command_line(call.arguments.get(name)) for name in _COMMAND_NAMES)))
    running = left_running(output) if lines and not failed else ""
    runs = tuple(run for line in lines for run in _runs(line, directory, text, failed=failed))
    return Action(
        entry=entry,
        tool=call.name,
        arguments=call.arguments,
        output=text,
        failed=failed,
        lines=lines,
        runs=tuple(Run(run.command, None) for run in runs) if running or waiting_id(output) else runs,
        touches=() if failed else tuple(touches_of(call, {})),
        old=tuple(_texts(call.arguments, OLD_NAMES, "-")),
        new=tuple(_texts(call.arguments, _NEW_NAMES, "+")),
        running=running,
        exit_code=exit_code,
    )


def action_of_user(entry: str, message: BashExecutionMessage) -> Action:
    """The action of a command that the user ran next to the conversation."""
    text, _ = unwrapped(message.output)
    failed = bool(message.exit_code) or message.cancelled
    runs = tuple(_runs(message.command, "", text, failed=failed))
    return Action(entry, "bash", {}, text, failed, lines=(message.command,), runs=runs, by_user=True)


def _runs(line: str, directory: str, output: str, *, failed: bool) -> Iterator[Run]:
    commands = commands_of(f"cd {quote(directory)}\n{line}" if directory else line)
    following = [*(each.operator for each in commands[1:]), ""][: len(commands)]
    results = outcomes(commands, output, failed=failed)
    parts = divided(commands, output)
    for command, succeeded, operator, part in zip(commands, results, following, parts, strict=True):
        yield Run(command, succeeded, piped=operator == "|", output=part)


def _command_line(value: object) -> str:
    """A command given as a line, or as a list of words, of which a shell's last one is a line."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        program = value[0].rpartition("/")[2].removesuffix(".exe")
        return str(value[-1]) if program in _SHELLS and len(value) > 1 else " ".join(value)
    return ""


def _texts(arguments: Mapping[str, Any], names: tuple[str, ...], mark: str) -> Iterator[str]:
    """The texts of an edit, in the arguments or in items of a list there, or a patch's lines with `mark`."""
    listed = (item for value in arguments.values() if isinstance(value, list) for item in value)
    for item in [arguments, *(item for item in listed if isinstance(item, Mapping))]:
        yield from (text for name in names if isinstance(text := item.get(name), str) and text)
    for name in _PATCH_NAMES:
        patch = arguments.get(name)
        if isinstance(patch, str) and ("\n@@" in patch or "*** Begin Patch" in patch):
            lines = (line[1:] for line in patch.splitlines() if line.startswith(mark))
            yield "\n".join(line for line in lines if not line.startswith(mark * 2))
