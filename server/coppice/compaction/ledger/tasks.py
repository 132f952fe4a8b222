"""Tasks and their states: from to-do, plan and task tools, and from a tracker's commands, by their shape."""

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any, Final

from coppice.compaction.ledger.shell import Stage, stages_of
from coppice.compaction.ledger.steps import Action
from coppice.compaction.text.sentences import clip, one_line
from coppice.compaction.words import english
from coppice.protocol.ledger import Task, TaskState, WorkLedger

_TITLE_CHARS: Final = 240  # characters of a task's title (guess)
_TITLES: Final = ("content", "step", "title", "subject", "text", "task", "description")
_IDS: Final = ("taskId", "task_id", "id", "issue", "number")
_STATES: Final[Mapping[TaskState, re.Pattern[str]]] = {
    "done": re.compile(rf"\b(?:{english.STATES['done']})\b", re.IGNORECASE),
    "in_progress": re.compile(rf"\b(?:{english.STATES['in_progress']})\b", re.IGNORECASE),
    "blocked": re.compile(rf"\b(?:{english.STATES['blocked']})\b", re.IGNORECASE),
    "open": re.compile(rf"\b(?:{english.STATES['open']})\b", re.IGNORECASE),
}
_CLOSE: Final = re.compile(english.CLOSE)
_START: Final = re.compile(english.START)
_SHOW: Final = re.compile(english.SHOW)
_CHANGE: Final = frozenset(("update", "edit", "set", "move"))
_VERB: Final = re.compile("|".join((english.CLOSE, english.START, english.SHOW, "reopen", *sorted(_CHANGE))))
_ID: Final = re.compile(
    r"#?(?:[A-Za-z]\w{0,40}[-.#]){0,8}\w{0,40}\d[\w.-]{0,60}|[A-Za-z]\w{0,40}(?:-\w{1,40}){1,8}"
)
_NO_TRACKERS: Final = frozenset(
    ["git", "cat", "sed", "head", "tail", "npm", "pip", "docker", "kubectl", "systemctl", "ls"]
)
_CREATED: Final = re.compile(
    r"(?:created|added|opened)\b[^\n#:]{0,40}[#: ]\s?([#\w][\w.#-]{0,60})", re.IGNORECASE
)
_BADGE: Final = re.compile(r"\s{1,40}[●○◐■□•]\s?\S{0,8}\s{0,40}$")
_MARK: Final = re.compile(r"[^\w\n]{0,12}")
_LINE_CHARS: Final = 400  # characters of a line of a tracker's output (guess)


def note_lists(ledger: WorkLedger, action: Action) -> bool:
    """Takes in a to-do list or a task that a tool was given; False when there is none in the arguments."""
    arguments = action.arguments
    for value in arguments.values():
        items = [item for item in map(_listed, value) if item] if isinstance(value, list) else []
        if items:
            ledger.tasks = [task for task in ledger.tasks if task.id]
            ledger.tasks += [item.model_copy(update={"entry_id": action.entry}) for item in items]
            return True
    if action.commands or action.changes or action.failed:
        return False
    return _single(ledger, action, arguments)


def note_tracker(ledger: WorkLedger, action: Action) -> None:
    """Takes in the tasks that a tracker's commands start, close and show, with what their output shows."""
    named: list[str] = []
    for command in action.commands:
        for stage in stages_of(command):
            ids = _ids_in(stage)
            if not ids:
                continue
            named += ids
            state = _state_set_by(stage)
            if state and not action.failed:
                for each in ids:
                    _task(ledger, each, action.entry).state = state
    if named:
        _read_output(ledger, named, action)


def state_named(text: str) -> TaskState | None:
    """The state that `text` names, if it names one."""
    return next((state for state, words in _STATES.items() if words.search(text)), None)


def shown_ids(action: Action) -> list[str]:
    """The ids of the tasks that a tracker's commands of `action` show in full."""
    return [
        each
        for command in action.commands
        for stage in stages_of(command)
        if any(_SHOW.fullmatch(word) for word in stage.arguments[:2])
        for each in _ids_in(stage)
    ]


def closes_task(stage: Stage) -> bool:
    """Whether `stage` is a tracker's command that ends a task."""
    return _state_set_by(stage) == "done" and bool(_ids_in(stage))


def _single(ledger: WorkLedger, action: Action, arguments: Mapping[str, Any]) -> bool:
    identifier = next(
        (str(arguments[name]) for name in _IDS if isinstance(arguments.get(name), str | int)), ""
    )
    title = next((arguments[name] for name in _TITLES[2:4] if isinstance(arguments.get(name), str)), "")
    status = arguments.get("status", arguments.get("state"))
    if identifier and isinstance(status, str) and (state := state_named(status)):
        _task(ledger, identifier, action.entry).state = state
        return True
    created = _CREATED.search(action.output[:_LINE_CHARS]) if title else None
    if created is not None:
        task = _task(ledger, created[1].strip("#"), action.entry)
        task.title = clip(one_line(title), _TITLE_CHARS)
        return True
    return False


def _listed(item: object) -> Task | None:
    if not isinstance(item, dict):
        return None
    text = next((item[key] for key in _TITLES if isinstance(item.get(key), str) and item[key].strip()), None)
    status = item.get("status", item.get("state"))
    if text is None or not isinstance(status, str):
        return None
    return Task(title=clip(one_line(text), _TITLE_CHARS), state=state_named(status) or "open")


def _ids_in(stage: Stage) -> list[str]:
    """The arguments of a tracker's verb that are spelled like ids."""
    if stage.program in _NO_TRACKERS or stage.program.startswith("."):
        return []
    words = stage.arguments
    verb = next((place for place, word in enumerate(words[:2]) if _VERB.fullmatch(word)), len(words))
    plain = takewhile(lambda word: not word.startswith("-"), words[verb + 1 :])
    return [word.lstrip("#") for word in plain if _ID.fullmatch(word)]


def _state_set_by(stage: Stage) -> TaskState | None:
    verbs = stage.arguments[:2]
    if any(_CLOSE.fullmatch(word) for word in verbs):
        return "done"
    if any(_START.fullmatch(word) for word in verbs):
        return "in_progress"
    if "reopen" in verbs:
        return "open"
    if _CHANGE.isdisjoint(verbs):
        return None
    values = (word.partition("=")[2] or word for word in stage.arguments[2:])
    return next(filter(None, map(state_named, values)), None)


def _read_output(ledger: WorkLedger, named: list[str], action: Action) -> None:
    """The titles and states that the tracker prints for the tasks it was asked about, and their children."""
    known = {*named, *(task.id for task in ledger.tasks if task.id)}
    for raw in action.output.splitlines()[:2_000]:
        line = raw[:_LINE_CHARS]
        for identifier in _leading_ids(line):
            if identifier in known or any(identifier.startswith(f"{each}.") for each in known):
                _read_line(ledger, identifier, line, action.entry)


def _leading_ids(line: str) -> Iterator[str]:
    start = _MARK.match(line)
    match = _ID.match(line, start.end() if start else 0)
    if match:
        yield match[0].rstrip(".-:").lstrip("#")


def _read_line(ledger: WorkLedger, identifier: str, line: str, entry: str) -> None:
    rest = line[line.index(identifier) + len(identifier) :]
    match = re.match(r"(?:\s{0,3}\[[^\]\n]{1,40}\])?\s{0,3}[:·|—-]\s{1,4}([^\n\[(]{4,160})", rest)
    task = next((task for task in ledger.tasks if task.id == identifier), None)
    if match and task is None:
        task = _task(ledger, identifier, entry)
    if task is None:
        return
    if match:
        task.title = clip(one_line(_BADGE.sub("", match[1])), _TITLE_CHARS)
    state = state_named("".join(re.findall(r"\[[^\]\n]{1,60}\]", rest)).lower()) or _state_of_mark(line)
    if state:
        task.state = state


def _state_of_mark(line: str) -> TaskState | None:
    """The state that a box or a circle before the id draws."""
    match = _MARK.match(line)
    marks = match[0] if match else ""
    if any(mark in marks for mark in "◐◑◒◓▶"):
        return "in_progress"
    if any(mark in marks for mark in "✓✔☑✅"):
        return "done"
    return "open" if any(mark in marks for mark in "○☐◯") else None


def _task(ledger: WorkLedger, identifier: str, entry: str) -> Task:
    task = next((task for task in ledger.tasks if task.id == identifier), None)
    if task is None:
        task = Task(entry_id=entry, id=identifier)
        ledger.tasks.append(task)
    task.entry_id = entry
    return task
