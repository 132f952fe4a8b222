"""What listings show on a terminal of 80 columns: what a person needs is not cut off."""

import re
import uuid
from pathlib import Path

from cli.conftest import Coppice, on_terminal
from cli.sessions import assistant, long_session, user, write_session

from coppice.cli.conversations import distinct_length

COLUMNS = 80
SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def shown(*arguments: str | Path) -> list[str]:
    lines = SEQUENCE.sub("", on_terminal(*arguments, columns=COLUMNS)).splitlines()
    assert max(len(line) for line in lines) <= COLUMNS
    return lines


def test_a_list_names_every_conversation_and_its_workspace(coppice: Coppice, home: Path) -> None:
    (home / "other").mkdir()
    for workspace in ("work", "other"):
        assert coppice("import", long_session(home), "--workspace", home / workspace).code == 0
    rows = [line for line in shown("list", "--all") if "entries" in line]
    assert len(rows) == 2
    for row in rows:
        id_, title = row.split()[0], row.split("entries  ")[1]
        assert title.startswith("Please write part 0 of the shop")
        assert coppice("context", id_).code == 0
    assert len(shown("list", "--all")) == 4
    assert len(shown("list")) == 1


def test_a_tree_shows_the_current_leaf_however_long_ids_and_messages_are(tmp_path: Path) -> None:
    words = "a message that no line has room for " * 5
    file = write_session(tmp_path / "tree.jsonl", [user(words), assistant(words)])
    text = file.read_text(encoding="utf-8")
    for number in range(2):
        text = text.replace(f'"e{number}"', f'"{uuid.UUID(int=number)}"')
    file.write_text(text, encoding="utf-8")
    lines = shown("tree", file)
    assert lines[-1].endswith("(2 entries) ← you are here")


def test_a_search_shows_where_the_word_is(coppice: Coppice, home: Path) -> None:
    coppice("import", write_session(home / "one.jsonl", [user("before it all " * 2 + "the needle")]))
    lines = shown("search", "needle")
    assert lines[1].startswith("● e0  ")
    assert lines[2].endswith("needle")


def test_the_report_of_a_compaction_stays_aligned(tmp_path: Path) -> None:
    lines = shown("compact", long_session(tmp_path))
    first = next(number for number, line in enumerate(lines) if line.startswith("Summarized"))
    last = next(number for number, line in enumerate(lines) if line.startswith("Kept"))
    assert all(line.startswith(" " * 12) for line in lines[first + 1 : last])


def test_ids_are_cut_where_they_differ_and_equal_ones_end_the_search() -> None:
    same = str(uuid.UUID(int=1))
    other = str(uuid.UUID(int=2))
    assert distinct_length([same, same]) == 8
    assert distinct_length([same, other, same]) == len(same)
