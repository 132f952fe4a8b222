"""Fifty compactions in a row of one conversation: texts, pins and changes of files stay complete."""

import random
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from conftest_service import Client, MakeClient, assistant, tool, user
from models.provider_replies import answer, error
from models.provider_server import Exchange, ProviderServer
from scripted import GOOD

from coppice.compaction.summary_parser import missing_headings

pytestmark = pytest.mark.slow

ROUNDS = 50
MOST_TOKENS = 4_000
SETTINGS: dict[str, Any] = {
    "compaction": {"keepRecentTokens": 400, "maxSummaryTokens": MOST_TOKENS},
    "tokens": {"counter": "estimate"},
}
CONSTRAINTS = (
    "Never call legacy_pay() from checkout.py.",
    "Use 4 spaces, never tabs.",
    "Commit messages must be in English.",
    "All timestamps must be UTC.",
    "不要修改 vendor_1 目录下的文件。",
    "Always run `make lint` before committing.",
    "Log lines must go to stderr, only results to stdout.",
    "Never store a key in the code.",
    "Keep functions under 40 lines, always.",
    "禁止在代码里写死密钥。",
)
PINNED_AT = (3, 17, 31)
GROWTH = 1.1
"""The largest of the last ten summaries by rules, of the largest of the thirty before, file lists aside.

Also the largest in which a model took part, of the largest by rules; among those of a model that forgets at
random, which one is the largest is chance.
"""
WITHOUT_FILES = re.compile(r"^<(read|modified)-files>\n.*?^</\1-files>$", re.DOTALL | re.MULTILINE)


@dataclass
class Files:
    """What was really done to files."""

    read: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    created: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)

    def create(self, path: str) -> None:
        self.created.add(path)
        self.written.add(path)

    def delete(self, path: str) -> None:
        self.deleted.add(path)

    def rename(self, old: str, new: str) -> None:
        self.renamed[new] = old
        for paths in (self.read, self.written, self.created):
            if old in paths:
                paths.remove(old)
                paths.add(new)
        self.written.add(new)

    def kinds(self) -> dict[str, Any]:
        there = self.written - self.deleted
        return {
            "read": self.read - self.written - self.deleted,
            "modified": there,
            "created": self.created,
            "deleted": self.deleted,
            "renamed": self.renamed,
        }


def work(number: int, files: Files) -> list[dict[str, Any]]:
    """A round of a long session, some 900 tokens, and what it does to files."""
    made, before = f"src/new_{number}.py", f"src/new_{number - 1}.py"
    library, core = f"src/lib_{number % 9}.py", f"src/core_{number % 5}.py"
    entries = [user(f"Now implement feature number {number} in {made}, please.")]
    if number % 5 == 0:
        entries.append(user(CONSTRAINTS[number // 5]))
    entries += tool(f"r{number}", "read", {"path": library}, f"def helper_{number}(): ...\n" * 30)
    files.read.add(library)
    patch = f"*** Begin Patch\n*** Add File: {made}\n+def handler_{number}(row): ...\n*** End Patch"
    entries += tool(f"p{number}", "apply_patch", {"input": patch}, "Done")
    files.create(made)
    entries += tool(f"e{number}", "edit", {"path": core, "oldText": "x", "newText": "y"}, "edited")
    files.written.add(core)
    entries += tool(
        f"f{number}", "write", {"path": f"src/never_{number}.py"}, "Permission denied", error=True
    )
    if number % 3 == 1:
        entries += tool(f"d{number}", "delete_file", {"path": before}, "deleted")
        files.delete(before)
    if number % 3 == 2:
        moved = f"src/moved_{number - 1}.py"
        entries += tool(f"m{number}", "move_file", {"source": before, "destination": moved}, "moved")
        files.rename(before, moved)
    entries += tool(
        f"b{number}", "bash", {"command": "cat log.txt"}, " ".join(f"noise_{n}" for n in range(150))
    )
    entries.append(
        assistant(f"handler_{number} is written in {made}, as it was asked for. " + "It is quick. " * 40)
    )
    return entries


class Forgetful:
    """A model that drops half of what it is shown, invents, chats, breaks off and is refused."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.asked = 0

    async def __call__(self, exchange: Exchange) -> None:
        chance = self._random.random()
        if chance < 0.1:
            await answer("Sure, I'll do that right away!")(exchange)
        elif chance < 0.2:
            await error(400, "This request is not to my liking")(exchange)
        elif chance < 0.3:
            await answer(GOOD[: self._random.randrange(len(GOOD))], stop="length")(exchange)
        else:
            self.asked += 1
            await answer(self._lossy(exchange.request.body["messages"][-1]["content"]))(exchange)

    def _lossy(self, asked: str) -> str:
        match = re.search(
            r"^<previous-summary>\n(.*?)\n</previous-summary>$", asked, re.DOTALL | re.MULTILINE
        )
        named = re.findall(r"[\w/]+\.py", asked) or ["nothing"]
        first = GOOD.replace("## Critical Context", f"## Critical Context\n- The work is in {named[-1]}.")
        lines = (match[1] if match else first).splitlines()
        remaining = [line for line in lines if line.startswith("#") or self._random.random() < 0.5]
        invented = "## Constraints & Preferences\n- Never write tests\n- Always deploy on Fridays\n"
        return "\n".join(remaining).replace("## Constraints & Preferences", invented, 1)


@pytest.fixture
async def forgetful() -> AsyncIterator[tuple[Forgetful, dict[str, Any]]]:
    model = Forgetful(7)
    async with ProviderServer([model]) as server:
        model_settings = {
            "provider": "openai",
            "name": "lossy",
            "baseUrl": server.url,
            "contextWindow": 32_000,
        }
        yield model, {**SETTINGS, "summarizer": model_settings}


@pytest.mark.timeout(240)
async def test_by_rules_alone_nothing_decays(make_client: MakeClient) -> None:
    writers, sizes = await fifty_compactions(await make_client(SETTINGS))
    assert writers == {"offline"}
    assert max(sizes[-ROUNDS // 5 :]) <= GROWTH * max(sizes[ROUNDS // 5 : -ROUNDS // 5])


@pytest.mark.timeout(240)
async def test_with_a_model_that_forgets_and_invents_nothing_decays(
    make_client: MakeClient, forgetful: tuple[Forgetful, dict[str, Any]]
) -> None:
    model, settings = forgetful
    writers, sizes = await fifty_compactions(await make_client(settings))
    assert writers == {"offline", "openai/lossy"}
    _, by_rules = await fifty_compactions(await make_client(SETTINGS))
    assert max(sizes) <= GROWTH * max(by_rules)
    assert model.asked > ROUNDS // 2


async def fifty_compactions(client: Client) -> tuple[set[str], list[int]]:
    """Who wrote the summaries, and how long each is without its file lists; each was checked."""
    made, files, writers = await client.conversation(), Files(), set()
    never_compacted, sizes = await client.conversation(), []
    pinned: list[str] = []
    for number in range(ROUNDS):
        added = await client.ask("append", conversationId=made, entries=work(number, files))
        await client.ask("append", conversationId=never_compacted, entries=work(number, Files()))
        if number in PINNED_AT:
            await client.ask("pin", conversationId=made, entryId=added["entryIds"][0], pinned=True)
            pinned.append(f"Now implement feature number {number} in src/new_{number}.py, please.")
        done = await client.ask("compact", conversationId=made)
        writers.add(done["summarizer"])
        summary = done["entry"]["summary"]
        assert len(summary) / 4 <= MOST_TOKENS
        sizes.append(len(WITHOUT_FILES.sub("", summary)))
        assert missing_headings(summary) == []
        quoted = [line.removeprefix("> ") for line in summary.splitlines() if line.startswith("> ")]
        assert set(CONSTRAINTS[: number // 5 + 1]) - set(quoted) == set()
        assert [rule for rule in CONSTRAINTS if quoted.count(rule) > 1] == []
        assert not any("Fridays" in line or "write tests" in line for line in quoted)
        view = await client.ask("context", conversationId=made, format="entries")
        shown = [message.get("content") for message in view["messages"]]
        assert [shown.count(text) for text in pinned] == [1] * len(pinned)
        assert await ledger(client, made) == files.kinds()
        assert listed(summary, "read-files") == sorted(files.kinds()["read"])
        assert listed(summary, "modified-files") == sorted(files.kinds()["modified"])
    compacted, whole = [await client.ask("ledger", conversationId=each) for each in (made, never_compacted)]
    for name in ("messages", "state"):
        assert without_ids(compacted["ledger"][name]) == without_ids(whole["ledger"][name]), name
    return writers, sizes


def without_ids(facts: Any) -> Any:
    """The facts without the entries that they are based on, which no two conversations share."""
    if isinstance(facts, list):
        return [without_ids(fact) for fact in facts]
    if not isinstance(facts, dict):
        return facts
    return {name: without_ids(value) for name, value in facts.items() if name != "entryId"}


async def ledger(client: Client, conversation_id: str) -> dict[str, Any]:
    result = await client.ask("files", conversationId=conversation_id)
    return {
        "read": set(result["readFiles"]),
        "modified": set(result["modifiedFiles"]),
        "created": {record["path"] for record in result["records"] if record.get("created")},
        "deleted": set(result["deletedFiles"]),
        "renamed": {r["path"]: r["renamedFrom"] for r in result["records"] if r.get("renamedFrom")},
    }


def listed(summary: str, tag: str) -> list[str]:
    match = re.search(rf"^<{tag}>\n(.*?)\n</{tag}>$", summary, re.DOTALL | re.MULTILINE)
    return match[1].splitlines() if match else []
