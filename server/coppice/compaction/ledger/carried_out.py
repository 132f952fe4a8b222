"""Instructions that hold once: what a later command did is no rule any more."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Final

from coppice.compaction.ledger.shell import Stage, is_looking
from coppice.compaction.ledger.steps import Action, action_of
from coppice.compaction.text.sentences import sentences_of
from coppice.compaction.text.user_text import typed_by_user
from coppice.compaction.words import chinese, english, pattern
from coppice.tree.messages import AssistantMessage, Message, ToolCall, ToolResultMessage, UserMessage, text_of

_LASTING: Final = pattern("LASTING")
_ORDERED: Final = re.compile(
    rf"(?:^|[,;.]\s*|\b(?:{english.CLAUSE_OPENER}|now|first)\s+)"
    rf"(?:{english.RUN}\s+(?:the |a |an |all |my |our )?)?(?:re-?)??({english.ACT})s?(?={english.ACT_END})",
    re.IGNORECASE,
)
_PLAIN: Final = re.compile(r"[a-z]{2,20}(?::[a-z]{2,20}){0,3}")
_MOST_CHARS: Final = 200  # characters of an instruction that holds once (guess)


def holds_once(sentence: str) -> bool:
    """Whether `sentence` can be an instruction that one act fulfils: it has no word for what lasts."""
    return len(sentence) <= _MOST_CHARS and not _LASTING.search(sentence)


def is_carried_out(sentence: str, action: Action) -> bool:
    """Whether `action` is a command that worked and did what `sentence` asks for."""
    if action.failed or action.rejected or not action.commands or not holds_once(sentence):
        return False
    acts = {word.lower() for word in _ORDERED.findall(sentence)}
    acts |= {act for act, words in chinese.ACTS.items() if any(word in sentence for word in words)}
    return any(not acts.isdisjoint(_done_by(stage)) for stage in action.stages)


def carried_out_in(messages: Iterable[Message], before: Iterable[str] = ()) -> Sequence[str]:
    """What a command in `messages` carried out, oldest first: sentences that the user had typed there, and
    those of `before`.
    """
    waiting = list(before)
    done: list[str] = []
    for item in _sentences_and_actions(messages):
        if isinstance(item, str):
            waiting.append(item)
            continue
        found = [sentence for sentence in waiting if is_carried_out(sentence, item)]
        done += found
        waiting = [sentence for sentence in waiting if sentence not in found]
    return done


def _sentences_and_actions(messages: Iterable[Message]) -> Iterator[str | Action]:
    calls: dict[str, ToolCall] = {}
    for message in messages:
        if isinstance(message, UserMessage):
            yield from filter(holds_once, sentences_of(typed_by_user(text_of(message.content))))
        elif isinstance(message, AssistantMessage):
            calls.update((call.id, call) for call in message.tool_calls)
        elif isinstance(message, ToolResultMessage) and (call := calls.pop(message.tool_call_id, None)):
            yield action_of("", call, text_of(message.content), is_error=message.is_error)


def _done_by(stage: Stage) -> Iterator[str]:
    """The words of a command that name its act: plain ones after the program, before its first option."""
    if is_looking(stage):
        return
    for word in takewhile(_PLAIN.fullmatch, stage.arguments[:2]):
        yield from (part.removesuffix("s") for part in word.split(":"))
