"""What clearing old tool results leaves of a recorded session, and how often it changes a view's beginning.

`PYTHONPATH=tests python tests/benchmarks/clearing.py [--share 0.9]` replays each recorded session next to the
checkout up to its own first compaction, in a window of which it fills that share, and so without a compaction
of ours: each message is appended, and `coppice/preparePrompt` asked before each reply. A needed name stands
before the compaction and is used again by the assistant after it, by the metric of `../shared/bench`; the
exam's questions are answered by a text that holds what they ask for. `kept between steps` is the least share
of a request that is the beginning of the next one, where nothing was cleared between the two; `cached` the
share of all that was sent that an unlimited prefix cache would have read.
"""

import argparse
import asyncio
import importlib.util
import json
import tempfile
from dataclasses import dataclass, field
from typing import Any, Final

from recall_exam import serving
from shared_data import shared_data
from takeover_exam import SESSIONS, Cut, cut_session, exam_tool

from coppice.formats.reading import open_session
from coppice.protocol.conversations import CreateParams
from coppice.protocol.recovery import PreparePromptParams
from coppice.protocol.trees import AppendParams, ContextParams
from coppice.service.core.progress import NoProgress
from coppice.service.service import Service
from coppice.tokens.measuring import size_of_entry
from coppice.tree.entries import CompactionEntry, Entry, MessageEntry
from coppice.tree.messages import AssistantMessage

REQUEST_SHARE: Final = 0.9


@dataclass
class Replay:
    """The requests of a session: their characters, and how many of them began the next request."""

    sent: int = 0
    cached: int = 0
    steps: int = 0
    tokens: int = 0
    kept_between_steps: float = 1.0
    messages: list[str] = field(default_factory=list)

    def request(self, messages: list[str], *, stepped: bool) -> None:
        same = 0
        for before, now in zip(self.messages, messages, strict=False):
            if before != now:
                break
            same += len(now)
        whole = sum(map(len, self.messages))
        self.sent += sum(map(len, messages))
        self.cached += same
        self.steps += stepped
        if whole and not stepped:
            self.kept_between_steps = min(self.kept_between_steps, same / whole)
        self.messages = messages


def metric() -> Any:
    path = shared_data().parent / "bench" / "recall.py"
    spec: Any = importlib.util.spec_from_file_location("needed_names", path)
    module = importlib.util.module_from_spec(spec)
    __import__("sys").modules["needed_names"] = module
    spec.loader.exec_module(module)
    return module


def needed_names(cut: Cut) -> set[str]:
    """Names of the history that the assistant used again after the compaction."""
    facts = metric().facts
    after: list[str] = []
    past = 0
    for entry in open_session(shared_data() / f"{cut.name}.jsonl"):
        past += isinstance(entry, CompactionEntry)
        if past == 1 and isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
            after.append(text_of_entry(entry))
    names: set[str] = facts("\n".join(map(text_of_entry, cut.entries))) & facts("\n".join(after))
    return names


def text_of_entry(entry: Entry) -> str:
    return lines(entry.model_dump(mode="json", by_alias=True))


def lines(value: Any) -> str:
    """JSON with the lines of the texts in it."""
    return json.dumps(value, ensure_ascii=False).replace("\\n", "\n")


def without_usage(entry: MessageEntry) -> dict[str, Any]:
    """The entry to append; what a provider counted then was of other requests."""
    value: dict[str, Any] = entry.model_dump(mode="json", by_alias=True)
    value["message"].pop("usage", None)
    return {key: value[key] for key in ("type", "message")}


async def replay(service: Service, cut: Cut, window: int) -> Replay:
    made = await service.conversations.create(CreateParams())
    conversation_id, result = made.conversation.id, Replay()
    for entry in cut.entries:
        if not isinstance(entry, MessageEntry):
            continue
        if isinstance(entry.message, AssistantMessage):
            await request(service, conversation_id, window, result)
        new = AppendParams.model_validate(
            {"conversationId": conversation_id, "entries": [without_usage(entry)]}
        )
        await service.trees.append(new)
    await request(service, conversation_id, window, result)
    return result


async def request(service: Service, conversation_id: str, window: int, result: Replay) -> None:
    asked = PreparePromptParams(conversation_id=conversation_id, context_window=window)
    done = await service.thresholds.prepare_prompt(asked, NoProgress())
    assert not done.compacted
    shown = await service.views.context(ContextParams(conversation_id=conversation_id))
    messages = [lines(message) for message in shown.messages]
    result.tokens = shown.tokens
    result.request(messages, stepped=done.context_edit is not None)


async def main(share: float) -> None:
    print(
        f"{'session':24} {'tokens':>8} {'window':>8} {'steps':>5} {'left':>8} {'names':>5} {'kept':>5} "
        f"{'exam':>9} {'kept between steps':>18} {'cached':>6}"
    )
    probe = exam_tool()
    for name in SESSIONS:
        cut = cut_session(name)
        whole = "\n".join(map(text_of_entry, cut.entries))
        tokens = sum(size_of_entry(entry).tokenizer for entry in cut.entries)
        window, needed = int(tokens / share), needed_names(cut)
        exam = json.loads((shared_data().parent / "exam" / f"{name}.exam.json").read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            async with serving(f"sqlite:///{folder}/clearing.sqlite") as service:
                done = await replay(service, cut, window)
        text = "\n".join(done.messages)
        share_kept = sum(fact in text for fact in needed) / max(1, len(needed))
        passed = [sum(line is not None for _, line in probe.score(exam, each)) for each in (whole, text)]
        print(
            f"{name:24} {tokens:8,} {window:8,} {done.steps:5} {done.tokens / tokens:8.2f} {len(needed):5} "
            f"{share_kept:5.2f} {passed[1]:4}/{passed[0]:4} {done.kept_between_steps:18.3f} "
            f"{done.cached / done.sent:6.2f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=REQUEST_SHARE)
    asyncio.run(main(parser.parse_args().share))
