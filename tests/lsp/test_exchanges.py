"""Every exchange in docs/protocol.md is what a real server answers."""

from pathlib import Path

import pytest
from lsp.exchanges import Play, Step, exchanges
from lsp.raw_client import RawServer
from preloaded import python

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
EXCHANGES = exchanges(DOCUMENT)


BEFORE = ["Initialization", "Conversations and entries"]
"""The exchanges before every other one that does not begin with `initialize` itself."""
SUBJECTS = {
    *("Conversations and entries", "Trees and views", "Compaction", "Navigation", "Editor events", "Hooks"),
    *("Tools", "Notes", "Turns that the client runs", "Turns that the server runs"),
}


def steps_of(heading: str) -> list[Step]:
    steps = EXCHANGES[heading]
    if heading not in BEFORE and steps[0].message["method"] != "initialize":
        return [step for each in (*BEFORE, heading) for step in EXCHANGES[each]]
    return [*(EXCHANGES["Initialization"] if heading == BEFORE[1] else []), *steps]


def play(steps: list[Step], directory: Path) -> None:
    folder = directory / "checkout"
    folder.mkdir()
    examples = ROOT / "docs" / "examples"
    playing = Play({"<folder>": folder.as_uri(), "<examples>": examples.as_uri()})
    with RawServer(directory, python=python()) as server:
        for step in steps:
            playing.play(server, step)


@pytest.mark.parametrize("heading", EXCHANGES)
def test_the_exchange_is_what_the_server_answers(heading: str, tmp_path: Path) -> None:
    play(steps_of(heading), tmp_path)


def test_every_subject_has_an_exchange() -> None:
    assert EXCHANGES.keys() >= SUBJECTS


@pytest.mark.parametrize(
    ("shown", "other"),
    [
        ('"leafId": "answer",', '"leafId": "question",'),
        ('"entryCount": 0', '"entryCount": "0"'),
        ('"entryIds": ["question", "answer"]', '"entryIds": ["question"]'),
        ('"name": "Trees", "workspaceUri"', '"title": "Trees", "workspaceUri"'),
        ('"modifiedAt": "<created>"', '"modifiedAt": "<conversation>"'),
    ],
)
def test_an_exchange_that_is_not_so_fails(shown: str, other: str, tmp_path: Path) -> None:
    heading = BEFORE[1]
    changed = exchanges(DOCUMENT.replace(shown, other))[heading]
    assert changed != EXCHANGES[heading]
    with pytest.raises(AssertionError, match=r"The server sent"):
        play([*EXCHANGES["Initialization"], *changed], tmp_path)
