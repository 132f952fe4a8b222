"""Files that tools edited, and that common shell commands wrote, moved or removed."""

from typing import Final

from coppice.compaction.actions.action import Action, Run
from coppice.compaction.facts.working_tree import WorkingTree, Workspace
from coppice.protocol.state import ChangeKind

_CREATED: Final = ("created", "new file")
"""Words of results by which an editing tool says that a file is new (Claude Code's Write, Codex's
apply_patch).
"""


class Files:
    """Brings the working tree up to date with what tools and commands wrote."""

    def __init__(self, tree: WorkingTree, workspace: Workspace) -> None:
        self._tree = tree
        self._workspace = workspace

    def take(self, action: Action) -> None:
        """Takes in the edits and the shell commands of `action`."""
        says_new = any(word in action.output[:200].lower() for word in _CREATED)
        edit = (action.old[0], action.new[0]) if len(action.old) == len(action.new) == 1 else None
        for touch in action.touches:
            path = self._workspace.path(touch.path)
            if path is None or touch.kind == "read":
                continue
            if touch.kind == "deleted":
                self._tree.delete(path, action.entry, tracked=True)
            elif touch.kind == "renamed" and (old := self._workspace.path(touch.from_path or "")):
                self._tree.rename(old, path, action.entry, tracked=True)
            else:
                kind: ChangeKind = (
                    "created" if touch.kind == "created" or (says_new and not action.old) else "changed"
                )
                self._tree.change(path, action.entry, kind, edit)
        for run in action.runs:
            if (run.succeeded or not action.failed) and not run.command.conditional:
                self._command(run, action.entry)

    def _command(self, run: Run, entry: str) -> None:
        command = run.command
        written = list(command.writes)
        match command.program:
            case "sed" | "perl" if any(
                word.startswith(("-i", "--in-place", "-pi")) for word in command.arguments
            ):
                written += [word for word in command.operands[1:] if not _is_script(word)]
            case "cp" | "install" if len(command.operands) > 1 and not command.operands[-1].endswith(
                ("/", ".")
            ):
                written.append(command.operands[-1])
            case "touch" | "tee":
                written += command.operands
            case "rm":
                for path in self._paths(run, command.operands):
                    self._tree.delete(path, entry)
            case "mv" if len(command.operands) == 2:  # noqa: PLR2004 - the old name and the new one
                paths = self._paths(run, command.operands)
                if len(paths) == len(command.operands) and not command.operands[1].endswith("/"):
                    self._tree.rename(paths[0], paths[1], entry)
            case _:
                pass
        for path in self._paths(run, tuple(written)):
            self._tree.change(path, entry)

    def _paths(self, run: Run, words: tuple[str, ...]) -> list[str]:
        named = (word for word in words if not set(word) & set("*?$`{~") and word not in ("/dev/null", "-"))
        paths = (self._workspace.path(word, run.command.directory) for word in named)
        return [path for path in paths if path not in (None, ".")]


def _is_script(word: str) -> bool:
    return word.startswith(("s/", "s|", "s#", "/")) and word.count(word[1:2]) > 1
