"""How far the work is: what was done, what was under way, what was to come."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from coppice.compaction.facts.actions import Action, ActionKind, strings_in
from coppice.compaction.facts.commands import has_failed, outcome_line, parse_command, split_command
from coppice.compaction.facts.goals import requests_in
from coppice.compaction.facts.sentences import clip, one_line, sentences_of
from coppice.compaction.facts.wording import user_words
from coppice.tree.messages import AssistantMessage, Message, TextContent, UserMessage

_DEFINITION: Final = re.compile(
    r"^[ \t]{0,24}(?:@?(?:pub(?:lic)?|private|protected|export|default|static|async|abstract|override) ){0,4}"
    r"(?:def|defp|defmodule|defmacro|fn|func|fun|function|class|interface|type|struct|enum|trait|module"
    r"|record) +([A-Za-z_][A-Za-z0-9_.]{2,60})",
    re.MULTILINE,
)
_COMMIT_MESSAGE: Final = re.compile(
    r"""-[a-z]{0,3}m\s+(?:"(?:\$\(cat <<'?EOF'?\s*\n)?|'|\$')\s*([^\n"']{4,160})"""
)
_WRITERS: Final = re.compile(r"write|create|notebook", re.IGNORECASE)
_COMPLETION: Final = re.compile(
    r"\b(?:all (?:is |tasks? (?:are )?)?(?:done|complete|completed|finished)|done[.!]|finished"
    r"|is (?:now )?(?:complete|done|fixed)"
    r"|successfully|are (?:now )?(?:complete|fixed)|everything (?:is|works)|committed and pushed|all set)\b"
    r"|完成|搞定|已修复",
    re.IGNORECASE,
)
_INTENT: Final = re.compile(
    r"\b(?:now (?:let me|i['’]?ll|i will|update|add|create|write|run|fix|the)|let me|i['’]?ll|i will"
    r"|i need to|next[,:]?|we need to"
    r"|i['’]m going to|now (?:we|let['’]?s))\b|接下来|现在(?:我)?|我(?:将|会|来|需要)|让我|下一步",
    re.IGNORECASE,
)
_COMING: Final = re.compile(
    r"(?:next steps?|remaining|still (?:needs?|to do|missing|left|open)|to[- ]?do|left to do|outstanding"
    r"|pending"
    r"|follow[- ]ups?|后续|下一步|接下来|待办|剩下|还需要|未完成)",
    re.IGNORECASE,
)
_PLAN: Final = re.compile(
    r"\b(?:i['’]ll|i will|we['’]ll|we (?:will|need to)|(?:my|the) plan)\b.*:\s*$|计划", re.IGNORECASE
)
_ITEM: Final = re.compile(r"\s{0,8}(?:[-*•]|\d{1,2}[.)、])\s+(?:\[( |x|X)\]\s+)?(.{3,300})")
_CLAIMED_TASK: Final = re.compile(
    r"\s*\S{1,40} (?:\S{1,20} )?(?:(?:update|edit|set|move) ([\w.#-]{2,60}) .{0,200}in[_-]?progress"
    r"|(?:start|claim) ([\w.#-]*\d[\w.#-]*)\s*$)",
    re.IGNORECASE,
)
_CLOSED_TASK: Final = re.compile(
    r"\s*\S{1,40} (?:\S{1,20} )?(?:close|done|complete|finish|resolve)((?: [\w.#][\w.#-]{1,60}){1,20})",
    re.IGNORECASE,
)
ASKED: Final = "Asked last: "
TASK: Final = "Task "
_RECENT_TEXTS: Final = 6
_PLAN_TEXTS: Final = 2
_MIN_INTENT_CHARS: Final = 36


@dataclass(slots=True)
class FileWork:
    """What was done to one file; `names` are the definitions that were written, newest last."""

    path: str
    verbs: dict[str, int] = field(default_factory=dict)
    names: dict[str, None] = field(default_factory=dict)
    last_index: int = -1

    def note(self, verb: str, count: int = 1) -> None:
        self.verbs[verb] = self.verbs.get(verb, 0) + count


@dataclass(frozen=True, slots=True)
class Progress:
    """`files` and `milestones` were done, in order; the rest is one line each, most telling first."""

    files: tuple[FileWork, ...]
    milestones: tuple[str, ...]
    in_progress: tuple[str, ...]
    next_steps: tuple[str, ...]
    finished: bool
    closed_tasks: frozenset[str] = frozenset()


def progress_in(messages: Sequence[Message], actions: Sequence[Action]) -> Progress:
    """How far `messages` got, told from their actions, to-do lists and the assistant's last words."""
    texts = _assistant_texts(messages)
    todos = _last_todos(actions)
    finished = _is_finished(messages, texts)
    milestones = [*_milestones(actions), *_todo_texts(todos, "completed")]
    doing = [*_todo_texts(todos, "in_progress", "in-progress", "active"), *tracked_tasks(actions)]
    coming = _announced(texts[-_RECENT_TEXTS:], _COMING) or _announced(texts[-_PLAN_TEXTS:], _PLAN)
    if not finished:
        asked = requests_in(messages)
        doing += [f"{ASKED}{clip(asked[-1].text, 200)}"] if asked else []
        intent = _last_intent(texts[-1]) if texts else ""
        coming = [intent, *coming] if intent else coming
    coming = [*_todo_texts(todos, "pending", "todo", "open", "not_started"), *coming]
    return Progress(
        files=tuple(file_work(actions)),
        milestones=tuple(dict.fromkeys(milestones)),
        in_progress=tuple(dict.fromkeys(doing)),
        next_steps=tuple(dict.fromkeys(coming)),
        finished=finished,
        closed_tasks=frozenset(_closed_tasks(actions)),
    )


def file_work(actions: Iterable[Action]) -> list[FileWork]:
    """The changes that succeeded, by file, in the order in which the files were last changed."""
    works: dict[str, FileWork] = {}
    for action in actions:
        if action.kind is not ActionKind.CHANGE or action.failed or not action.answered:
            continue
        for touch in action.touches:
            if touch.kind == "read":
                continue
            work = works.setdefault(touch.path, FileWork(touch.path))
            work.note(_verb(action, touch.kind))
            work.last_index = action.index
            for text in strings_in(_without_old(action.arguments)):
                for name in _DEFINITION.findall(text[:100_000]):
                    work.names.pop(name, None)
                    work.names[name] = None
    return sorted(works.values(), key=lambda work: work.last_index)


def _verb(action: Action, kind: str) -> str:
    if kind in ("deleted", "renamed", "created"):
        return kind
    return (
        "written" if _WRITERS.search(action.tool) or action.arguments.get("command") == "create" else "edited"
    )


def _without_old(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if not name.lower().startswith("old")}


def _milestones(actions: Sequence[Action]) -> list[str]:
    """Commits, pushes and the newest outcome of each kind of test run, oldest first."""
    found: dict[str, tuple[int, str]] = {}
    for number, action in enumerate(actions):
        if action.command is None or not action.answered or has_failed(action):
            continue
        line = parse_command(action.command)
        if "git commit" in action.command:
            match = _COMMIT_MESSAGE.search(action.command[:8_000])
            if match:
                subject = one_line(match[1])
                found[f"commit {subject}"] = (number, f"Committed: {subject}")
        elif line.family == "git push":
            found["push"] = (number, "Pushed")
        elif not line.looks and (outcome := outcome_line(action.output)):
            found[line.family] = (number, f"`{clip(line.text, 80)}` passed: {outcome}")
    return [text for _, text in sorted(found.values())]


def tracked_tasks(actions: Sequence[Action]) -> list[str]:
    """Tasks that were claimed in an issue tracker from the command line and not closed since."""
    open_tasks: dict[str, None] = {}
    for action in actions:
        if action.command is None or action.failed:
            continue
        for part in split_command(action.command):
            for task in _closed_in(part):
                open_tasks.pop(task, None)
            if claimed := _CLAIMED_TASK.match(part):
                open_tasks[claimed[1] or claimed[2]] = None
    return [f"{TASK}{task}{_title_of(task, actions)}" for task in open_tasks]


def _closed_tasks(actions: Sequence[Action]) -> Iterator[str]:
    for action in actions:
        for part in split_command(action.command or "") if not action.failed else ():
            yield from _closed_in(part)


def _closed_in(command: str) -> list[str]:
    """The tasks that a tracker's command closes: its arguments up to the first flag."""
    match = _CLOSED_TASK.match(command)
    return match[1].split() if match else []


def _title_of(task: str, actions: Sequence[Action]) -> str:
    """The title that the tracker's own output gives a task, if it shows one."""
    pattern = re.compile(
        rf"(?<![\w.-]){re.escape(task)}(?:\s{{1,3}}\[[^\]\n]{{1,40}}\])?\s{{0,2}}[:·|—]\s{{1,4}}([^\n\[]{{4,90}})"
    )
    for action in reversed(actions):
        match = pattern.search(action.output) if action.command and task in action.output else None
        if match:
            return f": {one_line(match[1])}"
    return ""


def _assistant_texts(messages: Sequence[Message]) -> list[str]:
    return [
        said
        for message in messages
        if isinstance(message, AssistantMessage)
        and (
            said := "\n".join(
                block.text for block in message.content if isinstance(block, TextContent)
            ).strip()
        )
    ]


def _is_finished(messages: Sequence[Message], texts: Sequence[str]) -> bool:
    """Whether the assistant's last word closed the work and the user has not asked since."""
    last = next(
        (message for message in reversed(messages) if isinstance(message, UserMessage | AssistantMessage)),
        None,
    )
    if not isinstance(last, AssistantMessage) or last.tool_calls or not texts:
        return False
    return bool(_COMPLETION.search(texts[-1][:600]))


def _last_intent(text: str) -> str:
    lines = [line for line in sentences_of(user_words(text)) if _INTENT.search(line) and len(line) <= 400]  # noqa: PLR2004
    last = lines[-1].rstrip(":：") if lines else ""
    return clip(last, 240) if len(last) >= _MIN_INTENT_CHARS or not last.isascii() else ""


def _announced(texts: Sequence[str], heading: re.Pattern[str]) -> list[str]:
    """The items of the last list that stands under such a heading."""
    for text in reversed(texts):
        lines = text[-8_000:].splitlines()
        for number in range(len(lines) - 1, -1, -1):
            if len(lines[number]) < 160 and heading.search(lines[number]) and not _ITEM.match(lines[number]):  # noqa: PLR2004
                items = _items_after(lines[number + 1 :])
                if items:
                    return items
    return []


def _items_after(lines: Sequence[str]) -> list[str]:
    items: list[str] = []
    for line in lines:
        match = _ITEM.match(line)
        if match and match[1] not in ("x", "X"):
            items.append(clip(one_line(match[2]), 240))
        elif line.strip() and items and not line.startswith(" "):
            break
    return items[:12]


def _last_todos(actions: Sequence[Action]) -> list[tuple[str, str]]:
    """The newest to-do list that a tool was given: texts with their states."""
    for action in reversed(actions):
        for name in ("todos", "plan", "tasks", "items", "todoList"):
            listed = action.arguments.get(name)
            if isinstance(listed, list):
                items = [item for item in map(_todo, listed) if item]
                if items:
                    return items
    return []


def _todo(item: object) -> tuple[str, str] | None:
    if not isinstance(item, dict):
        return None
    text = next(
        (
            item[key]
            for key in ("content", "step", "title", "text", "task", "description")
            if isinstance(item.get(key), str)
        ),
        None,
    )
    state = item.get("status", item.get("state"))
    return (clip(one_line(text), 240), state.lower()) if text and isinstance(state, str) else None


def _todo_texts(todos: Sequence[tuple[str, str]], *states: str) -> list[str]:
    return [text for text, state in todos if state in states]
