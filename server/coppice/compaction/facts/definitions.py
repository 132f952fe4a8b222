"""What edits wrote into files: the names of functions, classes and types that are defined there now."""

import re
from typing import Final

from coppice.compaction.actions.action import Action
from coppice.compaction.facts.documents import TEXT_FILES
from coppice.compaction.facts.working_tree import Workspace
from coppice.protocol.state import Definitions, WorkState

_MOST_FILES: Final = 40  # files; a summary of 4,000 tokens has room for some 15
_MOST_NAMES: Final = 14  # names of a file, the newest
_MOST_CHARS: Final = 100_000  # characters of an edit that are read
_DEFINITION: Final = re.compile(
    r"^[ \t]{0,24}"
    r"(?:(?:export|default|public|private|protected|static|async|pub(?:\(\w{1,10}\))?|abstract|final"
    r"|override|inline) ){0,4}"
    r"(?:def|defp|defmodule|defmacro|class|fn|func|function|struct|enum|interface|type|trait"
    r"|module|macro|record)[ \t]+"
    r"(?:\([^)\n]{0,80}\)[ \t]{0,4})?(?P<name>[A-Za-z_][\w.!?]{1,80})",
    re.MULTILINE,
)


class DefinitionsOfFiles:
    """Follows the definitions of each file that was edited; one that an edit removes is gone."""

    def __init__(self, state: WorkState, workspace: Workspace) -> None:
        self._files = state.definitions
        self._workspace = workspace
        self._by_path = {each.path: each for each in state.definitions}

    def take(self, action: Action) -> None:
        """Takes in the edit of one file."""
        paths = [
            path
            for touch in action.touches
            if touch.kind != "read" and (path := self._workspace.path(touch.path))
        ]
        if len(set(paths)) != 1 or paths[0].endswith(TEXT_FILES) or not (action.new or action.old):
            return
        new, old = (
            [m["name"] for m in _DEFINITION.finditer("\n".join(texts)[:_MOST_CHARS])]
            for texts in (action.new, action.old)
        )
        before = self._by_path.pop(paths[0], None)
        if before is not None:
            self._files.remove(before)
        gone = set(old) - set(new)
        names = [name for name in (before.names if before else ()) if name not in gone]
        names = list(dict.fromkeys([*names, *(name for name in new if name not in old or name in names)]))
        if names:
            names = ["…", *names[-_MOST_NAMES:]] if len(names) > _MOST_NAMES else names
            self._by_path[paths[0]] = Definitions(entry_id=action.entry, path=paths[0], names=names)
            self._files.append(self._by_path[paths[0]])
        while len(self._files) > _MOST_FILES:
            del self._by_path[self._files.pop(0).path]
