"""Tasks and their states: from to-do, plan and task tools, and from a tracker's commands, by their shape."""

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, Final

from coppice.compaction.ledger.shell import Stage
from coppice.compaction.ledger.steps import Action
from coppice.compaction.text.comparing import normalized
from coppice.compaction.text.sentences import label
from coppice.compaction.words import english, raw
from coppice.protocol.ledger import Task, TaskState, WorkLedger

_TITLES: Final = ("content", "step", "title", "subject", "text", "task", "description")
_IDS: Final = ("taskId", "task_id", "id", "issue", "number")
_STATES: Final[Mapping[TaskState, re.Pattern[str]]] = {
    state: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for state, words in english.STATES.items()
}
_SETS_STATE: Final = {state: re.compile(words) for state, words in english.SETS_STATE.items()}
_SHOW: Final = re.compile(english.SHOW)
_CHANGE: Final = frozenset(("update", "edit", "set", "move"))
_VERB: Final = re.compile("|".join((*english.SETS_STATE.values(), english.SHOW, *sorted(_CHANGE))))
_NUMBER_MARK: Final = re.compile(r"#(?=\d)")
_CALLED_TASK: Final = re.compile(raw("TASK"))
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
_LISTED: Final = re.compile(rf"([^\w\n]{{0,12}}+)({_ID.pattern})")
_TITLED: Final = re.compile(r"(?:\s{0,3}\[[^\]\n]{1,40}\])?\s{0,3}[:·|—-]\s{1,4}([^\n\[(]{4,160})")
_MARKS: Final[Mapping[TaskState, str]] = {"in_progress": "◐◑◒◓▶", "done": "✓✔☑✅", "open": "○☐◯"}
"""The states that a box or a circle before the id draws."""
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
    for stage in action.stages:
        ids = _ids_in(stage)
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
        for stage in action.stages
        if any(_SHOW.fullmatch(word) for word in stage.arguments[:2])
        for each in _ids_in(stage)
    ]


def closed_ids(ledger: WorkLedger) -> set[str]:
    """The ids of the tasks that are done."""
    return {task.id for task in ledger.tasks if task.id and task.state == "done"}


def names_task(text: str, identifier: str) -> bool:
    """Whether `text` contains `identifier`, not as a part of another id or number."""
    return identifier in text and bool(
        re.search(rf"(?<![A-Za-z\d]){re.escape(identifier)}(?![^\W_]|\.\d)", text)
    )


def is_about_closed(text: str, ledger: WorkLedger, *, lead: int = 0) -> bool:
    """Whether `text` begins with tasks, after at most `lead` words, and all that it names are done.

    A number at the beginning is a task after "task" or "#" only.
    """
    closed = closed_ids(ledger)
    named = {task.id for task in ledger.tasks if task.id and names_task(text, task.id)}
    if not named or not named <= closed:
        return False
    words = normalized(_NUMBER_MARK.sub("task ", text)).split()
    ids = tuple(normalized(each) for each in named if not each.isdigit())
    beginnings = (" ".join(words[skipped:]) for skipped in range(lead + 1))
    return any(_CALLED_TASK.match(each) or each.startswith(ids) for each in beginnings)


def closes_task(stage: Stage) -> bool:
    """Whether `stage` is a tracker's command that ends a task."""
    return _state_set_by(stage) == "done" and bool(_ids_in(stage))


def _single(ledger: WorkLedger, action: Action, arguments: Mapping[str, Any]) -> bool:
    identifier = next(
        (str(arguments[name]) for name in _IDS if isinstance(arguments.get(name), str | int)), ""
    )
    title = _text_of(arguments, ("title", "subject"))
    status = arguments.get("status", arguments.get("state"))
    if identifier and isinstance(status, str) and (state := state_named(status)):
        _task(ledger, identifier, action.entry).state = state
        return True
    created = _CREATED.search(action.output[:_LINE_CHARS]) if title else None
    if created is not None:
        _task(ledger, created[1].strip("#"), action.entry).title = label(title)
    return created is not None


def _listed(item: object) -> Task | None:
    if not isinstance(item, dict):
        return None
    title = label(_text_of(item, _TITLES))
    status = item.get("status", item.get("state"))
    if not title or not isinstance(status, str):
        return None
    return Task(title=title, state=state_named(status) or "open")


def _text_of(arguments: Mapping[str, Any], names: Sequence[str]) -> str:
    texts = (text for name in names if isinstance(text := arguments.get(name), str))
    return next((text for text in texts if text.strip()), "")


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
    for state, verb in _SETS_STATE.items():
        if any(map(verb.fullmatch, verbs)):
            return state
    if _CHANGE.isdisjoint(verbs):
        return None
    values = (word.partition("=")[2] or word for word in stage.arguments[2:])
    return next(filter(None, map(state_named, values)), None)


def _read_output(ledger: WorkLedger, named: list[str], action: Action) -> None:
    """The titles and states that the tracker prints for the tasks it was asked about, and their children."""
    known = {*named, *(task.id for task in ledger.tasks if task.id)}
    for line in action.output.splitlines()[:2_000]:
        match = _LISTED.match(line[:_LINE_CHARS])
        identifier = match[2].rstrip(".-:").lstrip("#") if match else ""
        if match and (identifier in known or any(identifier.startswith(f"{each}.") for each in known)):
            rest = line[match.start(2) : _LINE_CHARS].partition(identifier)[2]
            _read_line(ledger, identifier, match[1], rest, action.entry)


def _read_line(ledger: WorkLedger, identifier: str, marks: str, rest: str, entry: str) -> None:
    titled = _TITLED.match(rest)
    task = next((task for task in ledger.tasks if task.id == identifier), None)
    if task is None and titled:
        task = _task(ledger, identifier, entry)
    if task is None:
        return
    if titled:
        task.title = label(_BADGE.sub("", titled[1]))
    stated = state_named("".join(re.findall(r"\[[^\]\n]{1,60}\]", rest)).lower())
    drawn = (state for state, drawings in _MARKS.items() if not set(drawings).isdisjoint(marks))
    task.state = stated or next(drawn, None) or task.state


def _task(ledger: WorkLedger, identifier: str, entry: str) -> Task:
    task = next((task for task in ledger.tasks if task.id == identifier), None)
    if task is None:
        task = Task(entry_id=entry, id=identifier)
        ledger.tasks.append(task)
    task.entry_id = entry
    return task
