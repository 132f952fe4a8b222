"""Real sessions: what later work needed is in the audited summary, whatever the model wrote."""

import importlib.util
import sys
import warnings
from collections.abc import Callable
from types import ModuleType

import pytest
from scripted import ScriptedModel
from shared_data import shared_data
from talk import request

from coppice.compaction.summary import missing_headings
from coppice.formats.reading import open_session
from coppice.models.summarizing import ModelSummarizer
from coppice.tokens.counting import count_tokens
from coppice.tree.entries import CompactionEntry, MessageEntry
from coppice.tree.messages import Message

SECTIONS = (
    "## Goal",
    "### Done",
    "### In Progress",
    "### Blocked",
    "## Key Decisions",
    "## Next Steps",
    "## Critical Context",
)


def endless(name: str) -> str:
    """Far more prose than any budget holds, with one name from the session."""
    lines = [
        f"- On day {n} we spoke of {name} at length, and of the weather number {n * 7}" for n in range(90)
    ]
    return "\n\n".join("\n".join([heading, *lines]) for heading in SECTIONS)


def short(name: str) -> str:
    return f"## Goal\nWork on {name}\n\n## Progress\n### Done\n- [x] some of it"


def metric() -> ModuleType:
    path = shared_data().parent / "bench" / "recall.py"
    if not path.is_file():
        pytest.skip("needs the metric that lies beside the sessions")
    spec = importlib.util.spec_from_file_location("shared_recall", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def before_compaction(name: str) -> list[Message]:
    messages: list[Message] = []
    for entry in open_session(shared_data() / name, "auto"):
        if isinstance(entry, CompactionEntry):
            break
        if isinstance(entry, MessageEntry):
            messages.append(entry.message)
    return messages


@pytest.mark.parametrize("writes", [endless, short])
@pytest.mark.parametrize("max_tokens", [2_800, 4_000])
@pytest.mark.parametrize("name", ["claude-code-session-1.jsonl", "claude-code-session-2.jsonl"])
async def test_nine_of_ten_needed_identifiers_are_kept(
    name: str, max_tokens: int, writes: Callable[[str], str]
) -> None:
    scale = metric()
    with warnings.catch_warnings(action="ignore"):  # the metric leaves the file to be closed by itself
        needed = scale.load(str(shared_data() / name)).needed
    messages = before_compaction(name)
    model = ScriptedModel([writes(min(needed))])
    written = await ModelSummarizer(model).summarize(request(messages, max_tokens=max_tokens))
    assert scale.score(written.text, needed) >= 0.90
    assert count_tokens(written.text) <= max_tokens
    assert missing_headings(written.text) == []
    assert written.summarizer == model.name
