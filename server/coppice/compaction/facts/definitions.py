"""Which functions and types the edits of a file wrote, by the words that begin a definition in its lines."""

import re
from collections.abc import Iterator
from typing import Final

from coppice.compaction.actions.action import Action
from coppice.compaction.facts.working_tree import WorkingTree, Workspace
from coppice.files.tools import patched_files
from coppice.protocol.state import ChangedFile

_MODIFIERS: Final = (
    r"abstract|async|data|declare|default|export|final|internal|open|override|private|protected"
    r"|pub(?:\(\w{1,20}\))?|public|sealed|static|unsafe"
)
_KEYWORDS: Final = (
    "class|def|defmodule|defp|enum|fn|fun|func|function|impl|interface|module|namespace|struct|trait|type"
)
_DEFINITION: Final = re.compile(
    rf"^(?:@@(?:.{{0,60}} @@)?)?[ \t]{{0,60}}(?:(?:{_MODIFIERS}) ){{0,4}}(?:{_KEYWORDS}) "
    r"(?:\([^()\n]{1,80}\) )?([A-Za-z_][\w.]{0,80}[?!]?)"
    r"(?=[ \t]{0,8}(?:[(<{:=,]|$|(?:do|extends|for|implements|interface|struct)\b))",
    re.MULTILINE,
)
"""How a definition begins in C#, Elixir, Go, Java, JavaScript, Kotlin, PHP, Python, Ruby, Rust, Scala, Swift
and TypeScript; also the head of a part of a patch, which names what the part is in.
"""
_EDIT_CHARS: Final = 100_000
"""Characters of an edit that are searched."""
_MOST_NAMES: Final = 8  # of a file; two lines of a summary


class Definitions:
    """Follows the definitions that edits wrote, by file with changes."""

    def __init__(self, tree: WorkingTree, workspace: Workspace) -> None:
        self._names = {file.path: dict.fromkeys(file.definitions) for file in tree.files}
        self._tree = tree
        self._workspace = workspace

    def take(self, action: Action) -> None:
        """Takes in the edits of `action`."""
        for name, old, new in _edits(action):
            path = self._workspace.path(name)
            if path is not None:
                names = self._names.setdefault(path, {})
                written = dict.fromkeys(_DEFINITION.findall(new[:_EDIT_CHARS]))
                for each in [*_DEFINITION.findall(old[:_EDIT_CHARS]), *written]:
                    names.pop(each, None)
                names |= written

        if any(run.command.program == "git" for run in action.runs):
            self._names = {path: self._names.get(path, {}) for path in self._tree.paths}

    def named(self) -> list[ChangedFile]:
        """The files with changes, with what was defined in them, the newest last."""
        return [
            file.model_copy(update={"definitions": [*self._names.get(file.path, ())][-_MOST_NAMES:]})
            for file in self._tree.files
        ]


def _edits(action: Action) -> Iterator[tuple[str, str, str]]:
    """The path of each edited file, what was replaced in it, and what was written."""
    changed = [touch.path for touch in action.touches if touch.kind != "read"]
    patches = [text for text in action.arguments.values() if isinstance(text, str) and "*** " in text]
    if len(changed) == 1 and not patches:
        yield changed[0], "\n".join(action.old), "\n".join(action.new)
    for patch in patches if changed else ():
        for path, lines in patched_files(patch):
            old = "\n".join(line[1:] for line in lines if line.startswith("-"))
            new = (line.removeprefix("+") for line in lines if line.startswith(("+", "@@")))
            yield path, old, "\n".join(new)
