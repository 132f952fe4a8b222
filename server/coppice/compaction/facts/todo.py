"""Tasks of to-do tools: lists that a call gives whole, and tools that create and change one task a call."""

import re
from collections.abc import Mapping
from typing import Any, Final

from coppice.compaction.actions.action import Action
from coppice.compaction.text.sentences import label
from coppice.protocol.state import Task, TaskState, WorkState

_TITLES: Final = ("content", "step", "title", "subject", "description")
_STATES: Final[dict[str, TaskState]] = {
    "pending": "open", "not-started": "open", "in_progress": "in_progress", "in-progress": "in_progress",
    "blocked": "blocked", "completed": "done", "cancelled": "done", "deleted": "done",
}  # fmt: skip
"""How Claude Code, Codex, Gemini, opencode and VS Code name the states of their tasks."""
_MOST_TASKS: Final = 100  # of a list; the recorded ones have at most 14
_TURNS: Final = 3  # messages of the user: the one after the turn that made a list, and two more
_CREATED: Final = re.compile(r"#?(\d{1,6})\b")


class Todo:
    """Recognizes the tools by shape: a list of items with a title and a state, or one item with an id."""

    def __init__(self, state: WorkState) -> None:
        self._tasks = state.tasks
        self._turns = 0

    def begin_turn(self) -> None:
        """A list that two turns did not touch tells no longer what is open."""
        self._turns += 1
        if self._turns >= _TURNS:
            self._tasks[:] = [task for task in self._tasks if task.id or task.state == "done"]

    def take(self, action: Action) -> None:
        """Takes in a list or a task of `action`."""
        if action.failed or action.runs:
            return
        for value in action.arguments.values():
            items = (
                [_task(item, action.entry) for item in value[:_MOST_TASKS]] if isinstance(value, list) else []
            )
            tasks = [task for task in items if task is not None]
            if tasks and len(tasks) == len(items):
                self._tasks[:], self._turns = tasks, 0
                return
        name = re.sub(r"[^a-z]", "", action.tool.lower())
        if name.endswith("taskcreate") and (
            task := _task({"status": "pending", **action.arguments}, action.entry)
        ):
            number = _CREATED.search(action.output[:200])
            self._tasks.append(task.model_copy(update={"id": number[1] if number else ""}))
            del self._tasks[:-_MOST_TASKS]
        elif name.endswith("taskupdate"):
            self._update(action.arguments, action.entry)

    def _update(self, arguments: Mapping[str, Any], entry: str) -> None:
        wanted = str(arguments.get("taskId", arguments.get("id", "")))
        state = _STATES.get(str(arguments.get("status", "")))
        for task in self._tasks:
            if task.id and task.id == wanted and state:
                task.state, task.entry_id = state, entry


def _task(item: object, entry: str) -> Task | None:
    """The task that `item` describes; None for anything else."""
    if not isinstance(item, Mapping):
        return None
    title = next((text for name in _TITLES if isinstance(text := item.get(name), str) and text), "")
    state = _STATES.get(str(item.get("status", item.get("state", ""))).lower())
    if not title or state is None:
        return None
    return Task(entry_id=entry, id=str(item.get("id") or ""), title=label(title), state=state)
