"""The end of the span: the newest events of the turn in order, with their results."""

from typing import Final

from coppice.compaction.ledger.shell import error_line, is_looking, result_of
from coppice.compaction.ledger.steps import Action
from coppice.compaction.ledger.written import added_code, definitions_in
from coppice.compaction.text.sentences import clip, one_line
from coppice.protocol.ledger import Event, EventKind, WorkLedger

_MOST: Final = 9
"""Events that are kept (guess: what a colleague needs in order to see where the work stopped)."""
_MOST_READ: Final = 4  # files or commands of one line (guess)
_TEXT_CHARS: Final = 160  # characters of an event (guess)
_READ_CHARS: Final = 80  # characters of a path or a command (guess)
_PLAN_CHARS: Final = 700  # characters of an announcement (guess)
_MOST_NAMES: Final = 5  # definitions of one change (guess)


def note_announced(ledger: WorkLedger, text: str, entry: str, *, plan: bool = False) -> None:
    """Takes in what the assistant is about to do: the newest plan and the newest announcement are kept."""
    kind: EventKind = "planned" if plan else "announced"
    ledger.recent = [event for event in ledger.recent if event.kind != kind]
    _add(ledger, Event(entry_id=entry, text=clip(text, _PLAN_CHARS), kind=kind))


def note_done(ledger: WorkLedger, action: Action) -> None:
    """Takes in what `action` did. A commit ends what was planned."""
    stages = [stage for stage in action.stages if stage.program != "cd"]
    if action.changes:
        _changed(ledger, action)
    elif action.commands and not all(map(is_looking, stages)):
        text = " && ".join(dict.fromkeys(stage.text for stage in stages if not is_looking(stage)))
        _add(ledger, _event(action, "ran", text, result_of(action.output)[1]))
        if not action.failed and any(stage.runs("git", "commit") for stage in stages):
            ledger.recent = [event for event in ledger.recent if event.kind != "planned"]
    elif action.commands:
        _read(ledger, action, f"`{clip(one_line(action.commands[0]), _READ_CHARS)}`")
    elif action.reads:
        _read(ledger, action, clip(action.reads[0], _READ_CHARS))
    elif isinstance(about := action.arguments.get("description"), str) and "prompt" in action.arguments:
        _add(ledger, _event(action, "ran", f"{action.tool}: {about}", ""))


def _changed(ledger: WorkLedger, action: Action) -> None:
    paths = ", ".join(dict.fromkeys(touch.path for touch in action.changes))
    code = added_code(action, _TEXT_CHARS)
    names = list(dict.fromkeys(name for text in action.written for name in definitions_in(text)))
    whole = not code.endswith("…") or not names
    added = f"`{code}`" if code and whole else ", ".join(names[:_MOST_NAMES])
    last = ledger.recent[-1] if ledger.recent else None
    if last is not None and last.kind == "changed" and last.text == paths and not action.failed:
        ledger.recent.pop()
        added = "; ".join(filter(None, dict.fromkeys([last.result, added])))
        added = added if len(added) <= 2 * _TEXT_CHARS else added[-2 * _TEXT_CHARS :].partition("; ")[2]
    _add(ledger, _event(action, "changed", paths, added))


def _read(ledger: WorkLedger, action: Action, text: str) -> None:
    """Consecutive reads are one event."""
    last = ledger.recent[-1] if ledger.recent else None
    if last is not None and last.kind == "read":
        texts = [each for each in last.text.split(", ") if each != text]
        last.text = ", ".join([*texts, text][-_MOST_READ:])
        return
    _add(ledger, Event(entry_id=action.entry, text=text, kind="read"))


def _event(action: Action, kind: EventKind, text: str, result: str) -> Event:
    stated = error_line(action.output) if action.failed else result
    text = clip(text, _TEXT_CHARS)
    return Event(entry_id=action.entry, text=text, kind=kind, result=stated, failed=action.failed)


def _add(ledger: WorkLedger, event: Event) -> None:
    ledger.recent.append(event)
    surplus = len(ledger.recent) - _MOST
    oldest = [each for each in ledger.recent if each.kind != "planned"][: max(0, surplus)]
    ledger.recent = [each for each in ledger.recent if each not in oldest]
