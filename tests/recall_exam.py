"""The questions of the takeover exam, asked of `coppice/recall`, and the rule by which an answer is found.

A probe of the exam has two or three groups of patterns. A question's answer is in the history when
one piece of 1,500 characters of one entry matches a pattern of every group; the other questions cannot be
answered by quoting and are left out. It was found when one item of the page does so (`item`), or when the
page does as a whole, each group by any item (`page`). Word matching is what `coppice/conversation/search`
does with the same question: every word must occur. The peer is plain BM25 over pieces of 1,500 characters.

`benchmarks/recall_questions` has questions of the same kind about a session that has no exam, each in
English and in Chinese.
"""

import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from coppice.compaction.asking.summarizer import Summarizer
from coppice.formats.reading import open_session
from coppice.protocol.conversations import ImportParams
from coppice.protocol.history import RecallParams, RecallResult
from coppice.protocol.navigation import SearchParams
from coppice.protocol.server_requests import ClientPort
from coppice.service.core.progress import NoProgress
from coppice.service.service import Service
from coppice.store.search.search_text import whole_text
from coppice.tokens.counting import estimate_tokens
from coppice.tree.entries import CompactionEntry, Entry

PAGE_TOKENS: Final = 4000
ANSWER_CHARS: Final = 1500

Probe = list[list[str]]


class Bm25:
    """Plain BM25 over pieces of text: what recall is compared with."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = pieces
        self._counts = [Counter(re.findall(r"\w+", piece.lower())) for piece in pieces]
        self._lengths = [counts.total() for counts in self._counts]
        self._average = sum(self._lengths) / max(1, len(pieces))
        self._frequency = Counter(word for counts in self._counts for word in counts)

    def page(self, question: str, tokens: int) -> list[str]:
        """The best pieces that fit so many tokens."""
        words = set(re.findall(r"\w+", question.lower()))
        scores = [(self._score(words, number), number) for number in range(len(self._pieces))]
        best: list[str] = []
        for value, number in sorted(scores, reverse=True):
            tokens -= estimate_tokens(self._pieces[number])
            if not value or tokens < 0:
                break
            best.append(self._pieces[number])
        return best

    def _score(self, words: set[str], number: int) -> float:
        counts, norm = self._counts[number], 0.3 + 0.9 * self._lengths[number] / self._average
        return sum(
            self._rarity(word) * counts[word] * 2.2 / (counts[word] + norm) for word in words if counts[word]
        )

    def _rarity(self, word: str) -> float:
        frequency = self._frequency[word]
        return math.log(1 + (len(self._pieces) - frequency + 0.5) / (frequency + 0.5))


@dataclass
class Score:
    """Counts of questions."""

    asked: int = 0
    answerable: int = 0
    item: int = 0
    page: int = 0
    peer: int = 0
    words: int = 0

    def row(self, name: str) -> str:
        share = self.item / self.answerable if self.answerable else 0
        return (
            f"{name:28} {self.asked:5} {self.answerable:10} {self.item:5} {share:6.2f} "
            f"{self.page:5} {self.peer:5} {self.words:13}"
        )

    def add(self, other: "Score") -> None:
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def holds(probe: Probe, text: str) -> bool:
    """Whether `text` matches a pattern of every group."""
    return all(any(re.search(pattern, text, re.IGNORECASE) for pattern in group) for group in probe)


def history(session: Path) -> tuple[list[Entry], str | None]:
    """The entries before the first compaction, and the compaction's id."""
    before: list[Entry] = []
    for entry in open_session(session):
        if isinstance(entry, CompactionEntry):
            return before, entry.id
        before.append(entry)
    return before, None


def pieces(entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries:
        text = whole_text(entry.type, entry.model_dump(mode="json", by_alias=True))
        yield from cut(text, ANSWER_CHARS)


def cut(text: str, size: int) -> list[str]:
    """`text` in parts of at most `size` characters, cut where lines end as far as that is possible."""
    parts = [""]
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), size):
            if len(parts[-1]) + len(line) - start > size and len(parts[-1]) >= size // 4:
                parts.append("")
            parts[-1] += line[start : start + size]
    return parts


async def score(
    service: Service,
    session: Path,
    questions: list[dict[str, Any]],
    *,
    tokens: int = PAGE_TOKENS,
    whole: bool = False,
) -> Score:
    """Of the history before the first compaction, or of the `whole` session; the page has so many tokens."""
    entries, compaction = (list(open_session(session)), None) if whole else history(session)
    answers = list(pieces(entries))
    made = await service.portability.import_(ImportParams(uri=session.as_uri()), NoProgress())
    result, peer = Score(asked=len(questions)), Bm25(answers)
    for question in questions:
        if not any(holds(question["probe"], piece) for piece in answers):
            continue
        result.answerable += 1
        page = await recalled(service, made.conversation.id, question["question"], compaction, tokens)
        assert sum(item.tokens for item in page.items) <= tokens
        result.item += any(holds(question["probe"], item.text) for item in page.items)
        result.page += holds(question["probe"], "\n".join(item.text for item in page.items))
        result.peer += any(holds(question["probe"], text) for text in peer.page(question["question"], tokens))
        search = SearchParams(query=question["question"][:1000], conversation_id=made.conversation.id)
        result.words += bool((await service.searching.search(search)).hits)
    return result


async def recalled(
    service: Service, conversation: str, query: str, before: str | None, tokens: int = PAGE_TOKENS
) -> RecallResult:
    return await service.recall.recall(
        RecallParams(conversation_id=conversation, query=query, before=before, max_tokens=tokens)
    )


def exams(shared: Path) -> list[tuple[str, list[dict[str, Any]]]]:
    files = sorted((shared / "exam").glob("*.exam.json"))
    loaded = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return [(exam["session"], exam["questions"]) for exam in loaded]


def own_exams() -> list[tuple[str, str, list[dict[str, Any]]]]:
    """The questions of `benchmarks/recall_questions`: their session, its name with the language, and they."""
    listed = []
    for file in sorted((Path(__file__).parent / "benchmarks" / "recall_questions").glob("*.json")):
        exam = json.loads(file.read_text(encoding="utf-8"))
        for language in ("en", "zh"):
            questions = [each | {"question": each[language]} for each in exam["questions"]]
            listed.append((exam["session"], f"{exam['session']}, {language}", questions))
    return listed


async def own_scores(shared: Path, folder: Path, tokens: int = PAGE_TOKENS) -> list[tuple[str, Score]]:
    """The score for the questions of `own_exams`, asked of whole sessions."""
    async with serving(f"sqlite:///{folder}/own.sqlite") as service:
        return [
            (
                name,
                await score(
                    service, shared / "data" / f"{session}.jsonl", questions, tokens=tokens, whole=True
                ),
            )
            for session, name, questions in own_exams()
        ]


async def scores(shared: Path, folder: Path, tokens: int = PAGE_TOKENS) -> list[tuple[str, Score]]:
    """The score of each session, with a store in `folder`."""
    async with serving(f"sqlite:///{folder}/quality.sqlite") as service:
        return [
            (session, await score(service, shared / "data" / f"{session}.jsonl", questions, tokens=tokens))
            for session, questions in exams(shared)
        ]


def total(scores_of: Sequence[tuple[str, Score]]) -> Score:
    whole = Score()
    for _, each in scores_of:
        whole.add(each)
    return whole


class serving:  # noqa: N801 - used like a function
    """A started service on the store at `url`, with an editor's settings, whose workspace is `folder`."""

    def __init__(
        self,
        url: str,
        client: ClientPort | None = None,
        settings: Mapping[str, Any] | None = None,
        folder: str = "file:///garden",
        summarizer: Summarizer | None = None,
    ) -> None:
        os.environ["COPPICE_STORAGE_URL"] = url
        self._service = Service(client, summarizer=summarizer)
        self._settings = settings or {}
        self._folder = folder

    async def __aenter__(self) -> Service:
        await self._service.start([self._folder], self._settings)
        return self._service

    async def __aexit__(self, *_: object) -> None:
        await self._service.close()
