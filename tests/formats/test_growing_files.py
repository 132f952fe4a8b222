"""Session files that grow while they are read: later readings begin where nothing can change any more."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from codex_samples import META, call, event, output, row, words
from session_samples import (
    HEADER,
    Json,
    call_block,
    lines_of,
    message_record,
    prompt,
    reply,
    result,
    result_block,
    text_block,
)
from shared_data import shared_data

from coppice.formats.reading import open_growing
from coppice.formats.source import Checkpoint, NotResumableError
from coppice.tree.entries import Entry


class Follower:
    """Reads a file again and again, and keeps every entry that it was given."""

    def __init__(self, path: Path, format_: str) -> None:
        self.path, self.format = path, format_
        self.entries: dict[str, Entry] = {}
        self.leaf: str | None = None
        self.given: list[str] = []
        self.restarts = 0
        self._checkpoint: Checkpoint | None = None

    def read(self, *, growing: bool = True) -> None:
        try:
            self._read(self._checkpoint, growing=growing)
        except NotResumableError:
            self.restarts += 1
            self._read(None, growing=growing)

    def _read(self, start: Checkpoint | None, *, growing: bool) -> None:
        reader = open_growing(self.path, self.format, start, growing=growing)
        by_id = {entry.id: entry for entry in reader}
        for entry in by_id.values():
            assert self.entries.get(entry.id, entry) == entry, "an entry changed"
        self.entries |= by_id
        self.given = list(by_id)
        self.leaf = reader.leaf_id
        checkpoint = reader.checkpoint
        self._checkpoint = None if checkpoint is None else Checkpoint.of_json(checkpoint.to_json())
        assert {entry.parent_id for entry in by_id.values()} <= {None, *self.entries}
        assert self.leaf is None or self.leaf in self.entries


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("claude-code-session-1.jsonl", "claude-code"),
        ("claude-entire-a.jsonl", "claude-code"),
        ("codex-hk.jsonl", "codex"),
    ],
)
def test_what_is_read_in_pieces_is_what_is_read_at_once(name: str, format_: str, tmp_path: Path) -> None:
    lines = (shared_data() / name).read_bytes().splitlines(keepends=True)
    whole = open_growing(shared_data() / name, format_, growing=False)
    expected = {entry.id: entry for entry in whole}
    follower = Follower(tmp_path / "session.jsonl", format_)
    cuts = sorted(random.Random(name).sample(range(10, len(lines)), 12))
    read = 0
    for cut in [*cuts, len(lines)]:
        torn = b"" if cut == len(lines) else lines[cut][:20]
        follower.path.write_bytes(b"".join(lines[:cut]) + torn)
        follower.read(growing=cut < len(lines))
        read += len(follower.given)
    assert follower.entries == expected
    assert follower.leaf == whole.leaf_id
    assert follower.restarts == 0
    assert read < 6 * len(expected)


TURNS = 30


def pi_turns() -> list[Json]:
    return [HEADER, *(message_record(f"m{n}", f"m{n - 1}" if n else None) for n in range(TURNS))]


def codex_turns() -> list[Json]:
    turn = [event("task_started"), words("user", "go"), words("assistant", "done"), event("task_complete")]
    return [row("session_meta", **META), *(turn * TURNS)]


def claude_turns() -> list[Json]:
    records: list[Json] = []
    for n in range(TURNS):
        records.append(prompt(f"p{n}", f"a{n - 1}" if n else None, "go"))
        records.append(reply(f"a{n}", f"p{n}", f"m{n}", text_block("done"), stop_reason="end_turn"))
    return records


def copilot_turns() -> list[Json]:
    records: list[Json] = [{"type": "session.start", "id": "s", "parentId": None, "data": {"sessionId": "s"}}]
    for n in range(TURNS):
        for kind, prefix in (("user.message", "u"), ("assistant.message", "a")):
            data = {"content": "done"}
            records.append({"type": kind, "id": f"{prefix}{n}", "parentId": None, "data": data})
    return records


def gemini_turns() -> list[Json]:
    records: list[Json] = [{"sessionId": "s", "projectHash": "0", "startTime": "2026"}]
    kinds = [(kind, n) for n in range(TURNS) for kind in ("user", "gemini")]
    return records + [{"type": kind, "id": f"{kind}{n}", "content": [{"text": "go"}]} for kind, n in kinds]


def qwen_turns() -> list[Json]:
    records: list[Json] = []
    for n in range(2 * TURNS):
        message = {"message": {"parts": [{"text": "go"}]}}
        ids = {"uuid": f"q{n}", "parentUuid": f"q{n - 1}" if n else None, "sessionId": "s"}
        records.append({"type": ("user", "assistant")[n % 2], **ids, **message})
    return records


def written(path: Path, records: Sequence[Json]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines_of(*records)), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("format_", "records"),
    [
        ("pi", pi_turns()),
        ("codex", codex_turns()),
        ("claude-code", claude_turns()),
        ("copilot", copilot_turns()),
        ("gemini", gemini_turns()),
        ("qwen", qwen_turns()),
    ],
)
def test_one_more_turn_costs_what_one_turn_costs(format_: str, records: list[Json], tmp_path: Path) -> None:
    before = len(records) - len(records) // TURNS
    follower = Follower(written(tmp_path / "session.jsonl", records[:before]), format_)
    follower.read()
    earlier = len(follower.entries)
    written(follower.path, records)
    follower.read()
    assert len(follower.entries) > earlier
    assert len(follower.given) <= 2 * (len(follower.entries) - earlier) + 2
    assert follower.restarts == 0


def test_a_rewritten_file_is_read_from_its_start(tmp_path: Path) -> None:
    follower = Follower(written(tmp_path / "session.jsonl", claude_turns()), "claude-code")
    follower.read()
    others = [prompt("q0", None, "something else, with a longer text than before" * 9)]
    written(follower.path, [*others, *(prompt(f"q{n}", f"q{n - 1}", "again") for n in range(1, 90))])
    follower.read()
    assert follower.restarts == 1
    assert "q89" in follower.entries


def test_a_prompt_that_was_taken_back_goes_on_from_before_the_checkpoint(tmp_path: Path) -> None:
    records = claude_turns()
    follower = Follower(written(tmp_path / "session.jsonl", records), "claude-code")
    follower.read()
    written(follower.path, [*records, prompt("other", "a3", "otherwise")])
    follower.read()
    assert (follower.restarts, follower.entries["other"].parent_id) == (1, "a3")


def test_a_reply_that_may_go_on_is_left_out_until_it_is_complete(tmp_path: Path) -> None:
    begun = [prompt("p", None, "go"), reply("a", "p", "m", text_block("I look."))]
    follower = Follower(written(tmp_path / "session.jsonl", begun), "claude-code")
    follower.read()
    assert (list(follower.entries), follower.leaf) == (["p"], "p")
    called = [*begun, reply("b", "a", "m", call_block("c1")), result("r", "b", result_block("c1"))]
    written(follower.path, called)
    follower.read()
    assert list(follower.entries) == ["p"]
    written(follower.path, [*called, reply("d", "r", "n", text_block("Done."), stop_reason="end_turn")])
    follower.read()
    assert list(follower.entries) == ["p", "a", "r", "d"]


def test_what_was_left_out_is_given_when_nothing_follows(tmp_path: Path) -> None:
    records = [row("session_meta", **META), event("task_started"), words("user", "go"), call("c1", "shell")]
    follower = Follower(written(tmp_path / "session.jsonl", records), "codex")
    follower.read()
    assert len(follower.entries) == 1
    written(follower.path, [*records, output("c1", "ok")])
    follower.read(growing=False)
    assert len(follower.entries) == 3


def test_the_transcript_of_a_side_conversation_is_read_as_one(tmp_path: Path) -> None:
    records = [
        {**prompt("p", None, "look"), "isSidechain": True},
        {**reply("a", "p", "m", text_block("seen"), stop_reason="end_turn"), "isSidechain": True},
    ]
    follower = Follower(written(tmp_path / "agent-1.jsonl", records), "claude-code")
    follower.read()
    assert list(follower.entries) == ["p", "a"]


@pytest.mark.parametrize(
    ("format_", "records"),
    [
        ("codex", [row("session_meta", **META, source={"subagent": "review"}), *codex_turns()[1:5]]),
        ("gemini", [{**gemini_turns()[0], "kind": "subagent"}, *gemini_turns()[1:3]]),
    ],
)
def test_a_later_prompt_of_a_sub_agent_is_not_the_users(
    format_: str, records: list[Json], tmp_path: Path
) -> None:
    follower = Follower(written(tmp_path / "session.jsonl", records), format_)
    follower.read()
    more = codex_turns()[1:5] if format_ == "codex" else gemini_turns()[3:5]
    written(follower.path, [*records, *more])
    follower.read()
    types = [follower.entries[entry_id].type for entry_id in follower.given]
    assert follower.restarts == 0
    assert types.count("custom_message") == 2
