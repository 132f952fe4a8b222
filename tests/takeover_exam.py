"""Sessions cut where their agent's window was full, with the exams on what a successor must know."""

import importlib.util
import json
import re
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from documents import parts_of
from requirements import missing
from shared_data import shared_data

from coppice.compaction.asking.summarizer import SummaryRequest
from coppice.compaction.facts.ledger import LedgerBuilder
from coppice.compaction.text.names import names_in
from coppice.formats.reading import open_session
from coppice.summarizers.offline import summarize_offline
from coppice.tokens.counting import count_tokens
from coppice.tree.entries import CompactionEntry, Entry, MessageEntry
from coppice.tree.messages import AssistantMessage, Message, TextContent, ToolResultMessage, text_of

SESSIONS = ("claude-code-session-1", "claude-code-session-2", "claude-entire-a", "codex-hk")
_VALUE = re.compile(r"\b\d[\d,.]* [a-z]{3,}\b")
REQUEST = SummaryRequest(
    history=(),
    turn_prefix=(),
    kept_messages=(),
    previous_summary=None,
    instructions=None,
    max_tokens=4_000,
    count_tokens=count_tokens,
    references=True,
)


@dataclass(frozen=True)
class Cut:
    """A session's entries before its first compaction, the recorded summary, and what was needed later.

    `stale` are the values that a command printed and, run again, no longer printed.
    """

    name: str
    entries: Sequence[Entry]
    root: str | None
    recorded: str
    needed: frozenset[str]
    stale: frozenset[str]

    def offline(self, max_tokens: int) -> tuple[str, float]:
        """The offline summary in at most so many tokens, and its milliseconds of processor time."""
        started = time.process_time()
        ledger = LedgerBuilder(root=self.root).add(self.entries).ledger
        asked = replace(REQUEST, max_tokens=max_tokens, ledger=ledger)
        parts = parts_of(asked).text
        narrative = summarize_offline(replace(asked, max_tokens=max_tokens - count_tokens(parts)))
        return f"{narrative}\n\n{parts}", (time.process_time() - started) * 1000


@dataclass(frozen=True)
class Score:
    """Probes passed by kind; the share of characters in word lists; the share of names needed later; the
    statements with a stale value.
    """

    passed: dict[str, int]
    word_lists: float
    precision: float
    stale: int
    tokens: int

    @property
    def total(self) -> int:
        return sum(self.passed.values())


def cut_session(name: str) -> Cut:
    path = shared_data() / f"{name}.jsonl"
    session = open_session(path)
    before: list[Entry] = []
    after: list[Message] = []
    recorded = None
    for entry in session:
        if isinstance(entry, CompactionEntry):
            if recorded is not None:
                break
            recorded = entry.summary
        elif recorded is None:
            before.append(entry)
        elif isinstance(entry, MessageEntry):
            after.append(entry.message)
    messages = [entry.message for entry in before if isinstance(entry, MessageEntry)]
    needed = frozenset(_used(after))
    return Cut(name, before, session.header.cwd, recorded or "", needed, stale_values(messages))


def stale_values(messages: Iterable[Message]) -> frozenset[str]:
    """Numbers with the word that follows ("65 tests") in the output of a command that was run again and then
    printed others, so far as the newest run of no command prints them.
    """
    commands: dict[str, str] = {}
    newest: dict[str, set[str]] = {}
    older: set[str] = set()
    for message in messages:
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls:
                command = call.arguments.get("command", call.arguments.get("cmd"))
                if isinstance(command, str):
                    commands[call.id] = command
        elif isinstance(message, ToolResultMessage) and message.tool_call_id in commands:
            command = commands[message.tool_call_id]
            older |= newest.get(command, set())
            newest[command] = set(_VALUE.findall(text_of(message.content)))
    return frozenset(older.difference(*newest.values()))


def _used(messages: Iterable[Message]) -> set[str]:
    """The names that the assistant wrote later, in its texts and in the arguments of its calls."""
    names: set[str] = set()
    for message in messages:
        if isinstance(message, AssistantMessage):
            for block in message.content:
                if isinstance(block, TextContent):
                    names.update(names_in(block.text))
            for call in message.tool_calls:
                names.update(names_in(json.dumps(call.arguments, ensure_ascii=False)))
    return names


def score(cut: Cut, text: str) -> Score:
    """How `text` does in the exam about `cut`."""
    probe = exam_tool()
    exam = json.loads((_exams() / f"{cut.name}.exam.json").read_text(encoding="utf-8"))
    passed: dict[str, int] = {}
    for question, line in probe.score(exam, text):
        passed[question["category"]] = passed.get(question["category"], 0) + (line is not None)
    lists = sum(len(line) for line in text.splitlines() if probe.is_word_list(line))
    names = {name for name in names_in(text) if not name.startswith("#")}
    needed = " ".join(cut.needed)
    precision = sum(name in needed for name in names) / len(names) if names else 0.0
    stale = sum(not cut.stale.isdisjoint(_VALUE.findall(line)) for line in text.splitlines())
    return Score(passed, lists / max(1, len(text)), precision, stale, count_tokens(text))


def exam_tool() -> ModuleType:
    """The probes of the exam, as they are given."""
    path = _exams() / "probe.py"
    if "takeover_probe" in sys.modules:
        return sys.modules["takeover_probe"]
    spec: Any = importlib.util.spec_from_file_location("takeover_probe", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["takeover_probe"] = module
    spec.loader.exec_module(module)
    return module


def _exams() -> Path:
    folder = shared_data().parent / "exam"
    if not folder.is_dir():
        missing("shared", "needs the exams of ../shared/exam, not part of the repository")
    return folder
