"""Which tool results a context edit clears.

The newest results stay, and of the older ones those that the work still rests on: failures that nothing has
repaired, the newest reading of a file that was edited, what is pinned. Of the others those go first that can
be had again, and the big ones.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from coppice.compaction.actions.action import Action, action_of
from coppice.protocol.history import HISTORY_TOOLS
from coppice.settings import ClearSettings, Settings
from coppice.tokens.measuring import size_of_message
from coppice.tokens.size import Size
from coppice.tree.clearing import cleared_result
from coppice.tree.entries import Entry, MessageEntry
from coppice.tree.messages import AssistantMessage, ToolCall, ToolResultMessage, text_of

LEAST_SAVED: Final = 200  # tokens that clearing a result must save (guess: names fit a shorter one)
_REREADABLE: Final = 2  # how much sooner a result that can be had again goes than another of its size (guess)


@dataclass(frozen=True, slots=True)
class ClearSizes:
    """In tokens: above `start` results are cleared, the newest `keep` of the view stay, a step clears at
    least `least_gain`, and it aims at a view of `target`.
    """

    start: int
    keep: int
    least_gain: int
    target: int


@dataclass(frozen=True, slots=True)
class Clearable:
    """A tool result that may be cleared, and what that saves. `again`: it can be had again."""

    entry_id: str
    tool: str
    saved: Size
    again: bool


def clears(settings: Settings) -> bool:
    """Whether old tool results are cleared before a request.

    Not where the model has no tool to read a cleared result again.
    """
    return settings.compaction.enabled and settings.compaction.clear.enabled and settings.recall.enabled


def clear_sizes(settings: ClearSettings, context_window: int, keep: int | None = None) -> ClearSizes:
    """The sizes for a window, with another `keep` where one is given.

    In a window in which they would leave no room to work, those of the settings are scaled down.
    """
    start = int(settings.start_share * context_window)
    return ClearSizes(
        start=start,
        keep=min(settings.keep_tokens, start // 3) if keep is None else keep,
        least_gain=min(settings.least_gain_tokens, start // 6),
        target=start // 2,
    )


def plan(
    entries: Sequence[Entry],
    sizes: Sequence[Size],
    *,
    keep: int,
    goal: int,
    tokens: Callable[[Size], int],
    excluded: Collection[str],
) -> list[Clearable]:
    """The results to clear so that `goal` tokens are saved, or as many as can be; oldest first.

    A result that no reply has followed yet stays: the model has not seen it. `entries` are those of the view
    with their sizes; none of `excluded`, by their ids, is cleared. `tokens`
    reads one number off a size.
    """
    old = min(first_kept([tokens(size) for size in sizes], keep), _newest_reply(entries))
    steps = list(_steps(entries))
    needed = _needed(steps)
    candidates: list[tuple[int, Clearable]] = []
    for place, action in steps:
        entry = entries[place]
        if place >= old or entry.id in excluded or place in needed or not isinstance(entry, MessageEntry):
            continue
        saved = sizes[place] - size_of_message(cleared_result(entry.message, entry.id))
        if tokens(saved) >= LEAST_SAVED and min(saved.tokenizer, saved.estimate) >= 0:
            candidates.append((place, Clearable(entry.id, action.tool, saved, _can_be_had_again(action))))
    candidates.sort(key=lambda each: -tokens(each[1].saved) * (_REREADABLE if each[1].again else 1))
    chosen: list[tuple[int, Clearable]] = []
    for each in candidates:
        if goal <= 0:
            break
        chosen.append(each)
        goal -= tokens(each[1].saved)
    return [clearable for _, clearable in sorted(chosen, key=lambda each: each[0])]


def first_kept(tokens: Sequence[int], keep: int) -> int:
    """The index from which on the entries, of the sizes `tokens`, have at most `keep` tokens together."""
    for index in range(len(tokens) - 1, -1, -1):
        keep -= tokens[index]
        if keep < 0:
            return index + 1
    return 0


def _newest_reply(entries: Sequence[Entry]) -> int:
    """The index of the newest reply that a model completed; 0 where there is none."""
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index]
        message = entry.message if isinstance(entry, MessageEntry) else None
        if isinstance(message, AssistantMessage) and not message.failed:
            return index
    return 0


def _steps(entries: Sequence[Entry]) -> Iterator[tuple[int, Action]]:
    """The places of the tool results that answer a call, each with what was done."""
    calls: dict[str, ToolCall] = {}
    for place, entry in enumerate(entries):
        match entry:
            case MessageEntry(message=AssistantMessage() as reply):
                calls |= {call.id: call for call in reply.tool_calls}
            case MessageEntry(message=ToolResultMessage() as result):
                call = calls.pop(result.tool_call_id, None)
                if call is not None:
                    output = text_of(result.content)
                    yield place, action_of(entry.id, call, output, is_error=result.is_error)
            case _:
                pass


def _needed(steps: Sequence[tuple[int, Action]]) -> set[int]:
    """The places of failures after which the same did not succeed, and of the newest readings of files that
    were edited.
    """
    failures: dict[tuple[str, ...], int] = {}
    readings: dict[str, int] = {}
    edited: set[str] = set()
    for place, action in steps:
        subject = _subject(action)
        if action.failed:
            failures[subject] = place
        else:
            failures.pop(subject, None)
        for touch in action.touches:
            if touch.kind == "read":
                readings[touch.path] = place
            else:
                edited.add(touch.path)
    return {*failures.values(), *(place for path, place in readings.items() if path in edited)}


def _subject(action: Action) -> tuple[str, ...]:
    """What an action is about, so that one that succeeds settles one that failed."""
    if action.runs:
        last = action.runs[-1].command
        return (last.program, *last.operands[:1])
    named = next((text for text in action.arguments.values() if isinstance(text, str)), "")
    return (action.tool, named[:200])


def _can_be_had_again(action: Action) -> bool:
    """Whether the call read without changing anything: files, or what was looked up in the history."""
    if action.tool in HISTORY_TOOLS:
        return True
    return bool(action.touches) and all(touch.kind == "read" for touch in action.touches)
