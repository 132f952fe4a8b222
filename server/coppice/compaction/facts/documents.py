"""Documents that the user named, as a command or a tool showed them: an issue, a plan, a page."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Final

from coppice.compaction.actions.action import Action
from coppice.compaction.facts.runners import only_looks
from coppice.compaction.facts.usage import shown_words
from coppice.compaction.text.sentences import clip, label, marked
from coppice.files.shell_scanner import Command
from coppice.protocol.ledger import Quotation

_SHORTEST: Final = 200  # characters; less is an answer of a search
_MOST_CHARS: Final = 8_000  # of a document; the recorded issues have at most 7,400
TEXT_FILES: Final = (".md", ".markdown", ".txt", ".rst", ".adoc", ".org")
_READERS: Final = ("cat", "head", "less", "sed", "bat")
_SHOWS: Final = ("show", "view", "read", "get")
_CLOSES: Final = frozenset(["close", "done", "complete", "finish", "resolve", "merge", "delete"])
_LATER: Final = " (before "
"""In ledgers of earlier versions the commands follow that acted on other documents since."""
BEFORE: Final = ", before "
"""The first command follows that acted on the document since, which may have changed its status."""
_LONGEST_ARGUMENT: Final = 200  # characters of a tool's argument that names a page
_SEARCHES: Final = frozenset(["pattern", "query", "regex", "glob"])
"""Arguments of tools that search, whose output is no document."""
_NAMED: Final = re.compile(r"(?:https?://)?[\w@#./-]{2,400}")
"""What a user names exactly: an issue, a path, an address; it is no word, which has letters alone."""
_MOST_FOLLOWED: Final = 80
"""Documents that are followed at a time, as many as a stored ledger has quotations; the oldest go first."""


class Documents:
    """Follows documents in `quotations`, which are keyed by identity and in order: one that was closed or
    edited is none, one in work is the newest and named with the first command that acted on it. What else
    later commands acted on has another status than its lines tell, so they are left out, with a mark.
    """

    def __init__(self, quotations: dict[int, Quotation]) -> None:
        self._quotations = quotations
        self._followed = {key: each for key, each in quotations.items() if each.kind == "brief"}
        self._named: set[str] = set()
        for each in self._followed.values():
            each.about = each.about.partition(_LATER)[0]

    def user(self, text: str) -> None:
        """Takes in what a message of the user names."""
        self._named = names_of(text) or self._named

    def take(self, action: Action) -> Iterator[Quotation]:
        """Takes in what an action did to documents; those that it showed."""
        while len(self._followed) > _MOST_FOLLOWED:
            self._remove(next(iter(self._followed.values())))
        changed = {touch.path for touch in action.touches if touch.kind != "read"}
        for document in list(self._followed.values()):
            later = [each.command for each in action.runs if each.succeeded and _acts(each.command, document)]
            own = [command for command in later if _is_about(command, document)]
            shown_by = document.about.partition(BEFORE)[0]
            if any(path in shown_by for path in changed) or any(map(_closes, own)):
                self._remove(document)
                continue
            if own:
                self._remove(document)
                self._quotations[id(document)] = self._followed[id(document)] = document
                if shown_by == document.about:
                    document.about += f"{BEFORE}{' '.join(shown_words(own[0].words))}"
            if others := set[str]().union(*map(_objects, later)) - {*shown_by.split()}:
                lines = document.text.splitlines()
                held = [line for line in lines if others.isdisjoint(names_of(line))]
                text = "\n".join(held).strip()
                document.text = marked(text) if text and len(held) < len(lines) else document.text
        for about, shown in _shown(action, self._named):
            text = clip(shown.strip(), _MOST_CHARS)
            if len(text) >= _SHORTEST and text[0] not in "{[":
                new = Quotation(entry_id=action.entry, text=text, kind="brief", about=label(about))
                self._followed[id(new)] = new
                yield new

    def clear(self) -> None:
        """What they ask for is done."""
        for document in list(self._followed.values()):
            self._remove(document)

    def _remove(self, document: Quotation) -> None:
        del self._quotations[id(document)], self._followed[id(document)]


def shows_document(action: Action, named: AbstractSet[str]) -> bool:
    """Whether an action showed a document that one of the names `named` is of."""
    return any(_shown(action, named))


def _shown(action: Action, named: AbstractSet[str]) -> Iterator[tuple[str, str]]:
    """What an action showed of the documents `named`: the command, path or argument, and the text."""
    shown = () if action.failed else _all_shown(action)
    return (each for each in shown if any(name in each[0] for name in named))


def _all_shown(action: Action) -> Iterator[tuple[str, str]]:
    for run in action.runs:
        if run.command.program in _READERS:
            yield from ((word, run.output) for word in run.command.operands if word.endswith(TEXT_FILES))
        elif _shows(run.command):
            yield str(run.command), run.output
    for touch in action.touches:
        if touch.kind == "read" and touch.path.endswith(TEXT_FILES):
            yield touch.path, action.output
    if not action.runs and not action.touches and not _SEARCHES & action.arguments.keys():
        for text in action.arguments.values():
            if isinstance(text, str) and len(text) < _LONGEST_ARGUMENT:
                yield text, action.output


def _shows(command: Command) -> bool:
    return command.program != "git" and any(word in _SHOWS for word in command.operands[:3])


def _acts(command: Command, document: Quotation) -> bool:
    """Whether it is a command of the program that showed the document, and changes something."""
    return [command.program] == document.about.split()[:1] and not only_looks(command.words)


def _objects(command: Command) -> set[str]:
    """What `command` acts on: its operands, but for numbers and what may be the value of an option."""
    operands = {word for before, word in pairwise(command.words) if not before.startswith("-")}
    return {word for word in operands if not word.startswith("-") and not word.isdecimal()}


def _is_about(command: Command, document: Quotation) -> bool:
    """Whether `command` names what the document was shown by."""
    shown_by = document.about.partition(BEFORE)[0].split()
    return any(names_of(word) and word in shown_by for word in command.operands)


def _closes(command: Command) -> bool:
    return not _CLOSES.isdisjoint(command.operands[:3])


def names_of(text: str) -> set[str]:
    """What the beginning of a text names exactly: issues, paths, addresses."""
    names = (each.rstrip("./-") for each in _NAMED.findall(text[:_MOST_CHARS]))
    return {name for name in names if len(name) > 1 and not name.isalpha()}
