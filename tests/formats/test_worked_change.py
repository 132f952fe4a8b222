"""The importer that docs/DEVELOPERS.md shows as an example reads what it says."""

import re
from pathlib import Path
from types import ModuleType

from coppice.formats.source import Source
from coppice.tree.entries import MessageEntry

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "DEVELOPERS.md"


def block(language: str) -> str:
    (shown,) = re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
    return str(shown)


def test_the_example_s_reader_reads_the_example_s_log() -> None:
    module = ModuleType("chatlog")
    exec(block("python"), module.__dict__)  # noqa: S102 - our own document
    entries = list(module.Reader(Source(block("json"))))
    assert all(isinstance(entry, MessageEntry) for entry in entries)
    first, second = entries
    assert (first.message.content, second.message.role) == ("Plant an oak.", "assistant")
    assert second.parent_id == first.id
    assert second.timestamp == "2026-01-01T08:00:05.000Z"
