"""Which tool calls touch files, and how.

The table knows the tools of Pi, Claude Code, Codex, VS Code, the MCP file server and their like; the setting
`files.tools` extends it. MCP tools are recognized by the part of their name after the server's.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import dropwhile
from typing import Any, Final

from coppice.files.shell_scanner import Command, scanned
from coppice.settings import ToolMapping
from coppice.tree.entries import FileChangeKind
from coppice.tree.messages import ToolCall

_PATH_NAMES: Final = (
    "path",
    "file_path",
    "filePath",
    "absolute_path",
    "notebook_path",
    "target_file",
    "filename",
    "file",
)
_FROM_NAMES: Final = ("source", "from", "old_path", "oldPath")
_LISTS: Final = ("paths", "files", "replacements", "edits")
_TO_NAMES: Final = ("destination", "to", "new_path", "newPath")

_READ: Final = {
    "read",
    "readfile",
    "readtextfile",
    "readmediafile",
    "readmultiplefiles",
    "readmanyfiles",
    "notebookread",
    "viewfile",
    "view",
    "openfile",
    "catfile",
}
_WRITE: Final = {
    "write",
    "writefile",
    "createfile",
    "edit",
    "editfile",
    "multiedit",
    "multireplacestringinfile",
    "notebookedit",
    "editnotebookfile",
    "replace",
    "replaceinfile",
    "replacestring",
    "replacestringinfile",
    "inserteditintofile",
    "insertedit",
    "strreplace",
    "searchreplace",
    "writetofile",
}
_DELETE: Final = {"delete", "deletefile", "removefile", "rm"}
_RENAME: Final = {"movefile", "renamefile", "move", "rename"}
_EDITORS: Final = {"strreplaceeditor", "strreplacebasededittool"}
_PATCHES: Final = {"applypatch", "patch"}

_PATCHING_SHELLS: Final = {"shell", "shellcommand", "localshell", "exec", "execcommand"}
"""Codex's, in which `apply_patch` is a command that takes the patch as its input or its argument."""
_PATCHES_BY_COMMAND: Final = {"apply_patch", "applypatch"}
_SHELLS: Final = {"sh", "bash", "zsh", "dash"}
_MOST_NESTED: Final = 2  # shells within shells
_BEFORE_PROGRAM: Final = {
    "env",
    "time",
    "command",
    "exec",
    "nice",
    "if",
    "then",
    "else",
    "do",
    "while",
    "!",
    "{",
}
_PATCH_START: Final = "*** Begin Patch\n"
_MOST_CHARS: Final = 200_000
"""Of a command line. Models write patches of some ten thousand."""
_PATCH_LINE: Final = re.compile(
    r"^\*\*\* (Add File|Update File|Delete File|Move to): (.{1,4096})$", re.MULTILINE
)
_PATCH_KINDS: Final[Mapping[str, FileChangeKind]] = {
    "Add File": "created",
    "Update File": "modified",
    "Delete File": "deleted",
}


@dataclass(frozen=True, slots=True)
class FileTouch:
    """What a tool call does to one path if it succeeds. `from_path` is the earlier name in a rename."""

    path: str
    kind: FileChangeKind
    from_path: str | None = None


def touches_of(call: ToolCall, mappings: Mapping[str, ToolMapping]) -> list[FileTouch]:
    """The files that `call` touches if it succeeds; none for a tool that is not in the table."""
    mapped = mappings.get(call.name)
    if mapped is not None:
        return list(_mapped_touches(call.arguments, mapped))
    return list(_known_touches(_bare(call.name), call.arguments))


def _bare(name: str) -> str:
    """A tool's name without server, vendor, case and separators: `mcp__fs__read_file` is `readfile`."""
    last = re.split(r"__|[./:]", name)[-1]
    bare = re.sub(r"[^a-z]", "", last.lower())
    return bare.removeprefix("copilot").removesuffix("tool") if bare not in _EDITORS else bare


def _known_touches(tool: str, arguments: Mapping[str, Any]) -> Iterator[FileTouch]:
    if tool in _READ:
        yield from (FileTouch(path, "read") for path in _paths(arguments))
    elif tool in _WRITE:
        yield from (FileTouch(path, "modified") for path in _paths(arguments))
    elif tool in _DELETE:
        yield from (FileTouch(path, "deleted") for path in _paths(arguments))
    elif tool in _RENAME:
        old, new = _first(arguments, _FROM_NAMES), _first(arguments, _TO_NAMES)
        if old and new:
            yield FileTouch(new, "renamed", old)
    elif tool in _EDITORS:
        kind: FileChangeKind = "read" if arguments.get("command") == "view" else "modified"
        yield from (FileTouch(path, kind) for path in _paths(arguments))
    elif tool in _PATCHES:
        patch = _first(arguments, ("input", "patch", "patchText"))
        if patch:
            yield from _patch_touches(patch)
        else:
            yield from (FileTouch(path, "modified") for path in _paths(arguments))
    elif tool in _PATCHING_SHELLS:
        for patch in _patches_in(_first(arguments, ("command", "cmd")) or ""):
            yield from _patch_touches(patch)


def _patches_in(line: str, depth: int = 0) -> Iterator[str]:
    """The patches that a command line applies; its status says nothing about one in a `||` list."""
    lists: list[list[Command]] = []
    for command in scanned(line[:_MOST_CHARS]) if _PATCH_START in line else ():
        if not lists or command.operator not in ("&&", "||", "|"):
            lists.append([])
        lists[-1].append(command)
    for commands in lists:
        if any(command.operator == "||" for command in commands):
            continue
        given = [text for each in commands for text in (*each.documents, *each.words) if _PATCH_START in text]
        programs = set(map(_program, commands))
        if programs & _PATCHES_BY_COMMAND:
            yield from given
        elif programs & _SHELLS and depth < _MOST_NESTED:
            for script in given:
                yield from _patches_in(script, depth + 1)


def _program(command: Command) -> str:
    """The program's name, behind assignments and what runs it in the same way."""
    words = dropwhile(lambda word: word in _BEFORE_PROGRAM or "=" in word, command.words)
    return next(words, "").rpartition("/")[2]


def _patch_touches(patch: str) -> Iterator[FileTouch]:
    """The files of a patch in the `*** Update File:` notation."""
    last: FileTouch | None = None
    for match in _PATCH_LINE.finditer(patch):
        verb, path = match[1], match[2].strip()
        if verb == "Move to" and last is not None:
            yield FileTouch(path, "renamed", last.path)
        elif verb in _PATCH_KINDS:
            last = FileTouch(path, _PATCH_KINDS[verb])
            yield last


def _mapped_touches(arguments: Mapping[str, Any], mapping: ToolMapping) -> Iterator[FileTouch]:
    kinds: Mapping[str, FileChangeKind] = {"write": "modified", "delete": "deleted", "read": "read"}
    for path in _strings(arguments.get(mapping.path)):
        if mapping.kind != "rename":
            yield FileTouch(path, kinds[mapping.kind])
        elif old := next(_strings(arguments.get(mapping.from_path or "from")), None):
            yield FileTouch(path, "renamed", old)


def _paths(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name in _PATH_NAMES:
        if path := next(_strings(arguments.get(name)), None):
            yield path
            return
    for name in _LISTS:
        listed = arguments.get(name)
        if isinstance(listed, list):
            nested = (_paths(item) if isinstance(item, dict) else _strings(item) for item in listed)
            yield from dict.fromkeys(path for paths in nested for path in paths)
            return


def _first(arguments: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((text for name in names for text in _strings(arguments.get(name))), None)


def _strings(value: object) -> Iterator[str]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str) and item:
            yield item
