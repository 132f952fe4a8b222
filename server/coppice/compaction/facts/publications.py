"""What the assistant wrote for others: the texts that commands were given, such as a comment."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from coppice.compaction.actions.action import Action
from coppice.compaction.facts.documents import TEXT_FILES
from coppice.compaction.facts.runners import check_words, is_basic
from coppice.compaction.text.paths import is_about_work
from coppice.compaction.text.sentences import SHORTEST, clip, label, sentences_of
from coppice.protocol.ledger import Quotation

_MOST_CHARS: Final = 6_000  # of a text, as of a report
_MOST_FILES: Final = 20  # that wait for a command, the newest
_MOST_BESIDE_CHARS: Final = 1_000  # of an argument beside the commands
_ASSIGNED: Final = re.compile(r"-{0,2}\w[\w-]{0,40}=")
_BEGINS: Final = re.compile(r"[A-Z#*\u4e00-\u9fff]|- ")
ON: Final = ", on "
"""The file follows that a text is about, where its call names one."""
_LEAST_WORDS: Final = 2
"""Before the first option or text: a program without a subcommand is asked something, as an agent is."""


class Publications:
    """Follows texts that are written to scratch files until a command is given them, and the files of the
    work by name: a text may be about a place in the one that its call names.
    """

    def __init__(self) -> None:
        self._written: dict[str, str] = {}
        self._files: set[str] = set()

    def take(self, action: Action) -> Iterator[Quotation]:
        """The texts that the commands of `action` published."""
        self._write(action)
        beside = self._places(_beside_commands(action))
        for run in action.runs:
            failed = run.succeeded is False or run.command.conditional or action.failed or action.running
            words = run.command.words
            if failed or is_basic(run.command.program) or check_words(words):
                continue
            texts = [self._text_of(word) for word in words]
            first = next((place for place, word in enumerate(words) if word[:1] == "-" or texts[place]), 0)
            if first < _LEAST_WORDS:
                continue
            others = (word for word, text in zip(words[first:], texts[first:], strict=True) if not text)
            places = beside | self._places(others)
            about = label(" ".join(words[:first])) + (f"{ON}{places.pop()}" if len(places) == 1 else "")
            for text in filter(None, texts):
                yield Quotation(
                    entry_id=action.entry, text=clip(text, _MOST_CHARS), kind="publication", about=about
                )

    def _write(self, action: Action) -> None:
        self._files |= {each.path.rpartition("/")[2] for each in action.touches if is_about_work(each.path)}
        written = [each.path for each in action.touches if each.kind != "read"]
        texts = [(path, "\n".join(action.new)) for path in written[:1]] if len(written) == 1 else []
        texts += [
            (path, text)
            for run in action.runs
            for path, text in zip(run.command.writes, run.command.documents, strict=False)
        ]
        for path, text in texts:
            if path.endswith(TEXT_FILES) and not is_about_work(path):
                self._written[path] = text
        for path in list(self._written)[:-_MOST_FILES]:
            del self._written[path]

    def _places(self, texts: Iterable[str]) -> set[str]:
        """The files of the work that `texts` name, at most two, with the line where that follows; a bare word
        is none.
        """
        places: set[str] = set()
        for word in " ".join(texts).replace("=", " ").split():
            path, _, line = word.strip("`'\"(),.;").partition(":")
            is_file = path.rpartition("/")[2] in self._files
            if is_file and ("." in path or "/" in path or line.isdecimal()):
                places.add(label(f"{path}:{line}" if line.isdecimal() else path))
            if len(places) > 1:
                break
        return places

    def _text_of(self, word: str) -> str:
        """The text that a word of a command gives or names; empty where it is none."""
        assigned = _ASSIGNED.match(word)
        value = word[assigned.end() :] if assigned else word
        text = self._written.get(value.removeprefix("@"), value).strip()
        is_text = _BEGINS.match(text) and any(map(_states, sentences_of(text)))
        return text if is_text else ""


def _beside_commands(action: Action) -> Iterator[str]:
    """The beginnings of the arguments of a call that are no command lines, such as its description."""
    texts = (each for each in action.arguments.values() if isinstance(each, str))
    return (clip(each, _MOST_BESIDE_CHARS) for each in texts if each.strip() not in action.lines)


def _states(sentence: str) -> bool:
    return len(sentence.encode()) >= SHORTEST and sentence.endswith((".", "!", "。", "！"))
