"""Real sessions: whatever a model wrote, the computed state follows, and lists no names."""

from collections.abc import Callable

import pytest
from documents import parts_of
from scripted import ScriptedModel
from shared_data import shared_data
from talk import request

from coppice.compaction.summary_parser import missing_headings
from coppice.formats.reading import open_session
from coppice.summarizers.llm import ModelSummarizer
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
NAMES = {
    "claude-code-session-1.jsonl": "AnnotationMessageRef",
    "claude-code-session-2.jsonl": "TranscriptHighlighter",
}
FUNCTION_WORDS = frozenset(
    {"a", "the", "and", "not", "is", "are", "was", "to", "in", "of", "with", "for", "by"}
)
LONGEST_LIST = 25
"""Words of a line from which one without a sentence in it is a list of names."""


def endless(name: str) -> str:
    """Far more prose than any budget holds, with one name from the session."""
    lines = [
        f"- On day {n} we spoke of {name} at length, and of the weather number {n * 7}" for n in range(90)
    ]
    return "\n\n".join("\n".join([heading, *lines]) for heading in SECTIONS)


def short(name: str) -> str:
    return f"## Goal\nWork on {name}\n\n## Progress\n### Done\n- [x] some of it"


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
async def test_what_is_open_is_stated_whatever_the_model_wrote(
    name: str, max_tokens: int, writes: Callable[[str], str]
) -> None:
    messages = before_compaction(name)
    model = ScriptedModel([writes(NAMES[name])])
    asked = request(messages, max_tokens=max_tokens)
    written = await ModelSummarizer(model).summarize(asked)
    assert "ot committed: " in parts_of(asked).state
    assert count_tokens(written.text) <= max_tokens
    assert missing_headings(written.text) == []
    assert written.summarizer == model.name
    for line in written.text.splitlines():
        words = [word.strip(".,;:()`") for word in line.split()]
        assert len(words) <= LONGEST_LIST or FUNCTION_WORDS.intersection(words), line
