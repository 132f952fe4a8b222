"""Statements that tools wrote or returned: published texts, comments in code, reports of other agents."""

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Final

from coppice.compaction.ledger.shell import (
    Stage,
    is_looking,
    split_heredocs,
    stages_of,
)
from coppice.compaction.ledger.statements import statements_in
from coppice.compaction.ledger.steps import Action
from coppice.compaction.ledger.written import added_text, comments_in
from coppice.compaction.text.paths import is_about_work
from coppice.compaction.text.sentences import label
from coppice.compaction.text.user_text import without_blocks
from coppice.compaction.words import english
from coppice.protocol.ledger import Statement

_SUBAGENT_PROMPT: Final = 100
"""Characters of a `prompt` argument from which a tool is an agent of its own (guess)."""
_REVIEW_WEIGHT: Final = 0.7  # weight of a reviewer's statement against the agent's own (guess)
_COMMENT_WEIGHT: Final = 0.7  # weight of a comment in code, likewise (guess)
_ADDRESS: Final = re.compile(r"https?://\S{4,400}")
_ADDRESS_SCORE: Final = 1.6  # score of an address that a tool reported (guess)
_LONG_ID: Final = re.compile(r"/\d{5,}")
_OPTION_CHARS: Final = 40  # characters of an option's name (guess)
_PROSE_WORDS: Final = 8  # words that make an option's value prose (guess)
_TEXT_OPTION: Final = re.compile(english.TEXT_OPTION)
_WRITTEN: Final = re.compile(r"(?:^|[^0-9&])>{1,2} ?([^\s;|&<>]{1,200})")


def comments_of(action: Action, path: str) -> Iterator[Statement]:
    """The comments that a change of `path` wrote into code."""
    for text in comments_in(action):
        yield from statements_in(text, action.entry, "comment", about=path, weight=_COMMENT_WEIGHT)


def report_of(action: Action) -> Iterator[Statement]:
    """What another agent reported that `action` asked."""
    prompt, about = action.arguments.get("prompt"), action.arguments.get("description")
    if isinstance(prompt, str) and len(prompt) >= _SUBAGENT_PROMPT and not action.failed:
        name = label(about) if isinstance(about, str) else action.tool
        text = without_blocks(action.output)
        yield from statements_in(text, action.entry, "review", about=name, weight=_REVIEW_WEIGHT)


def publishable_texts(action: Action) -> Iterator[tuple[str, str]]:
    """The files outside of the work that `action` wrote, which may be published from, with their texts."""
    for touch, text in zip(action.changes, action.written, strict=False):
        if not is_about_work(touch.path):
            yield touch.path, added_text(text)
    for command in action.commands:
        text, bodies = split_heredocs(command)
        yield from zip(_WRITTEN.findall(text) if bodies else (), bodies, strict=False)


def published_by(action: Action, files: Mapping[str, str]) -> Iterator[Statement]:
    """What a command's options sent elsewhere, a comment, a description, a reason, and the address of it.

    `files` are texts that it may name instead.
    """
    if action.failed:
        return
    last = action.output.rstrip().rpartition("\n")[2].strip()
    for command in action.commands if _ADDRESS.fullmatch(last) else ():
        text = f"`{' && '.join(map(_label, stages_of(command)[-1:]))}` → {last}"
        yield Statement(entry_id=action.entry, text=text, kind="report", score=_ADDRESS_SCORE)
    for command in action.commands:
        for name, text in _published_texts(command, files):
            yield from statements_in(text, action.entry, "published", about=name)


def _published_texts(command: str, files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What a command sends elsewhere as prose, with the command's first words: the values of options and
    the contents of those of `files` that it names. Commits are left out.
    """
    for stage in stages_of(command):
        if stage.program == "git" or is_looking(stage):
            continue
        sent_with = _label(stage)
        before = ""
        for word in stage.arguments:
            name, equals, value = word.partition("=")
            if not equals or len(name) > _OPTION_CHARS or " " in name:
                name, value = before if before.startswith("-") else "", word
            if _TEXT_OPTION.fullmatch(name.lstrip("-")) and _is_prose(value):
                yield sent_with, value
            elif value.lstrip("@") in files:
                yield sent_with, files[value.lstrip("@")]
            before = word


def _label(stage: Stage) -> str:
    """The first words of a command, without options; the ids in its addresses are left out."""
    words = takewhile(lambda word: not word.startswith("-"), stage.words[:4])
    return label(_LONG_ID.sub("/…", " ".join(words)))


def _is_prose(value: str) -> bool:
    return len(value.split()) >= _PROSE_WORDS and not value.startswith(("query ", "mutation", "{", "."))
