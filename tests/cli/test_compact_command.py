"""`coppice compact` on session files and on stored conversations."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Coppice
from cli.sessions import HEADER, assistant, entry, long_session, user, write_session
from shared_data import shared_data


def compacted(coppice: Coppice, *arguments: str | Path) -> Any:
    ran = coppice("compact", *arguments, "--json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def imported(coppice: Coppice, file: Path) -> str:
    return str(json.loads(coppice("import", file, "--json").out)["conversation"]["id"])


def test_a_session_file_is_compacted_and_stays_as_it_was(coppice: Coppice, tmp_path: Path) -> None:
    file = long_session(tmp_path)
    before = file.read_bytes()
    ran = coppice("compact", file)
    assert ran.code == 0
    for shown in (" → ", "Summarized", "Kept", "## Goal", "--- What the model now sees ---"):
        assert shown in ran.out
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".jsonl"] == [file.name]
    assert list((tmp_path / "temporary").glob("coppice*")) == []


def test_a_session_file_leaves_nothing_in_the_store(coppice: Coppice, tmp_path: Path) -> None:
    coppice("compact", long_session(tmp_path))
    assert json.loads(coppice("list", "--all", "--json").out) == {"conversations": []}


def test_progress_is_reported_on_standard_error_alone(coppice: Coppice, tmp_path: Path) -> None:
    ran = coppice("compact", long_session(tmp_path))
    lines = ran.err.splitlines()
    assert lines[0] == "Compacting …"
    assert lines[-1].startswith("Compacting: ")
    assert lines[-1].endswith(" tokens")
    assert "Compacting" not in ran.out


def test_json_is_one_object_whose_numbers_agree(coppice: Coppice, tmp_path: Path) -> None:
    report = compacted(coppice, long_session(tmp_path))
    assert (
        report["result"]["tokensAfter"]
        < report["result"]["tokensBefore"]
        == report["preview"]["tokensBefore"]
    )
    assert report["context"]["tokens"] == report["result"]["tokensAfter"]
    assert report["context"]["compactionId"] == report["result"]["entry"]["id"]
    assert report["preview"]["firstKeptEntryId"] == report["result"]["firstKeptEntryId"]
    assert (report["source"], report["dryRun"], report["output"]) == (
        {"kind": "file", "name": "long.jsonl"},
        False,
        None,
    )


def test_the_shown_view_is_the_summary_and_the_kept_messages(coppice: Coppice, tmp_path: Path) -> None:
    file = long_session(tmp_path)
    count = compacted(coppice, file)["context"]["messages"]
    view = coppice("compact", file).out.split("--- What the model now sees ---")[1]
    assert f"{count} messages, " in view
    assert "    1 user        The earlier part of this conversation" in view
    assert f"{count:5} assistant   Part 59 stands in src/part_59.py." in view


def test_sizes_on_the_command_line_hold(coppice: Coppice, tmp_path: Path) -> None:
    file = long_session(tmp_path)
    few, many = (compacted(coppice, file, "--keep-recent", tokens) for tokens in ("1500", "6000"))
    assert few["preview"]["keptTokens"] <= 1500 < many["preview"]["keptTokens"] <= 6000
    small = compacted(coppice, file, "--max-summary", "400")
    assert small["result"]["tokensAfter"] - small["preview"]["keptTokens"] <= 400


def test_a_small_window_keeps_less(coppice: Coppice, tmp_path: Path) -> None:
    file = long_session(tmp_path)
    small, large = (compacted(coppice, file, "--window", window) for window in ("8000", "200000"))
    assert small["preview"]["keptTokens"] < large["preview"]["keptTokens"]
    assert small["result"]["tokensAfter"] < 8000


def test_tokens_are_counted_as_asked(coppice: Coppice, tmp_path: Path) -> None:
    file = long_session(tmp_path)
    report = {name: compacted(coppice, file, "--counter", name) for name in ("tiktoken", "estimate")}
    assert report["tiktoken"]["context"]["tokenSource"] == "tokenizer"
    assert report["estimate"]["context"]["tokenSource"] == "estimate"
    assert report["tiktoken"]["result"]["tokensBefore"] != report["estimate"]["result"]["tokensBefore"]


def test_entries_are_named_in_the_summary_unless_nobody_can_read_them(
    coppice: Coppice, tmp_path: Path
) -> None:
    file = long_session(tmp_path)
    summary = compacted(coppice, file, "--dry-run")["result"]["entry"]["summary"]
    assert re.search(r"\[#\w+\]", summary)
    plain = compacted(coppice, file, "--dry-run", "--no-references")["result"]["entry"]["summary"]
    assert "[#" not in plain


def test_a_real_session_is_cut_where_the_contract_says(coppice: Coppice) -> None:
    report = compacted(coppice, shared_data() / "pi-session.jsonl", "--counter", "estimate")
    preview = report["preview"]
    # Pi counts a failed reply in the kept part, which no view contains: its turn prefix has 7 messages.
    assert (preview["messagesToSummarize"], preview["turnPrefixMessages"], preview["isSplitTurn"]) == (
        383,
        3,
        True,
    )
    assert preview["tokensBefore"] == 180_820


def test_a_session_comes_through_standard_input(coppice: Coppice, tmp_path: Path) -> None:
    ran = coppice("compact", "-", "--json", stdin=long_session(tmp_path).read_bytes())
    assert ran.code == 0
    assert json.loads(ran.out)["source"] == {"kind": "file", "name": "standard input"}


def test_a_stored_conversation_is_compacted_in_its_store(coppice: Coppice, tmp_path: Path) -> None:
    conversation = imported(coppice, long_session(tmp_path))
    report = compacted(coppice, conversation)
    listing = json.loads(coppice("tree", conversation, "--json").out)
    assert report["source"]["kind"] == "conversation"
    assert listing["leafId"] == report["result"]["entry"]["id"]
    assert listing["nodes"][-1]["type"] == "compaction"


def test_a_second_compaction_at_once_is_refused_with_numbers(coppice: Coppice, tmp_path: Path) -> None:
    conversation = imported(coppice, long_session(tmp_path))
    compacted(coppice, conversation)
    ran = coppice("compact", conversation)
    assert (ran.code, ran.out) == (1, "")
    assert "just compacted" in ran.err


def test_a_dry_run_stores_nothing(coppice: Coppice, tmp_path: Path) -> None:
    conversation = imported(coppice, long_session(tmp_path))
    before = coppice("tree", conversation, "--mode", "all", "--json").out
    report = compacted(coppice, conversation, "--dry-run")
    assert report["dryRun"]
    assert report["context"] is None
    assert report["result"]["entry"]["summary"].startswith("## Goal")
    assert coppice("tree", conversation, "--mode", "all", "--json").out == before
    assert "A dry run: nothing was stored." in coppice("compact", conversation, "--dry-run").out


def test_a_leaf_names_the_path_that_is_compacted(coppice: Coppice, tmp_path: Path) -> None:
    file = long_session(tmp_path)
    report = compacted(coppice, file, "--leaf", "e199")
    assert report["result"]["entry"]["parentId"] == "e199"
    assert int(report["result"]["firstKeptEntryId"][1:]) < 199
    assert report["result"]["tokensBefore"] < compacted(coppice, file)["result"]["tokensBefore"]


def test_a_leaf_on_another_branch_is_found(coppice: Coppice, tmp_path: Path) -> None:
    file = long_session(tmp_path)
    branch = [entry(500, 119, user("Another way.")), entry(501, 500, assistant("word " * 900))]
    with file.open("a", encoding="utf-8") as lines:
        lines.writelines(json.dumps(line) + "\n" for line in branch)
    report = compacted(coppice, file, "--leaf", "e239", "--keep-recent", "3000")
    assert report["result"]["entry"]["parentId"] == "e239"
    report = compacted(coppice, file, "--keep-recent", "3000")
    assert report["result"]["entry"]["parentId"] == "e501"


def test_the_leaf_of_a_stored_conversation_is_not_moved(coppice: Coppice, tmp_path: Path) -> None:
    conversation = imported(coppice, long_session(tmp_path))
    ran = coppice("compact", conversation, "--leaf", "e100")
    assert (ran.code, ran.out) == (2, "")
    assert json.loads(coppice("tree", conversation, "--json").out)["leafId"] == "e239"


@pytest.mark.parametrize(
    ("name", "options", "form"),
    [
        ("out.md", [], "markdown"),
        ("out.jsonl", [], "session"),
        ("out.pi.jsonl", [], "session"),
        ("out.jsonl", ["--format", "coppice"], "coppice"),
        ("out.txt", ["--format", "markdown"], "markdown"),
    ],
)
def test_the_result_is_written_in_the_form_the_file_asks_for(
    coppice: Coppice, tmp_path: Path, name: str, options: list[str], form: str
) -> None:
    output = tmp_path / name
    ran = coppice("compact", long_session(tmp_path), "--output", output, *options)
    assert ran.code == 0
    first = output.read_text(encoding="utf-8").splitlines()[0]
    assert ("markdown" if first.startswith("# ") else json.loads(first)["type"]) == form
    assert "Written to" in ran.out


def test_what_was_written_is_where_the_compaction_ended(coppice: Coppice, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    report = compacted(coppice, long_session(tmp_path), "--output", output)
    again = json.loads(coppice("context", output, "--format", "entries", "--json").out)
    assert again["compactionId"] == report["result"]["entry"]["id"]
    assert again["tokens"] == report["context"]["tokens"]


def test_a_file_that_exists_is_replaced_only_when_forced(coppice: Coppice, tmp_path: Path) -> None:
    file, output = long_session(tmp_path), tmp_path / "precious.jsonl"
    output.write_text("precious")
    refused = coppice("compact", file, "--output", output)
    assert (refused.code, refused.out, output.read_text()) == (1, "", "precious")
    assert "--force" in refused.err
    assert coppice("compact", file, "--output", output, "--force").code == 0
    assert output.read_text() != "precious"


def test_the_session_itself_is_no_output(coppice: Coppice, tmp_path: Path) -> None:
    file = long_session(tmp_path)
    link = tmp_path / "link.jsonl"
    link.symlink_to(file)
    before = file.read_bytes()
    for output in (file, link):
        ran = coppice("compact", file, "--output", output, "--force")
        assert (ran.code, file.read_bytes()) == (1, before)


def test_a_dry_run_takes_no_output(coppice: Coppice, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    ran = coppice("compact", long_session(tmp_path), "--dry-run", "--output", output)
    assert (ran.code, output.exists()) == (2, False)


def test_too_short_a_session_is_refused_with_numbers(coppice: Coppice, tmp_path: Path) -> None:
    file = write_session(tmp_path / "short.jsonl", [user("hello"), assistant("hello to you")])
    ran = coppice("compact", file)
    assert (ran.code, ran.out) == (1, "")
    assert "nothing to compact" in ran.err
    assert "20,000" in ran.err


def test_lines_that_could_not_be_read_are_reported_and_the_rest_is_compacted(
    coppice: Coppice, tmp_path: Path
) -> None:
    file = long_session(tmp_path)
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], "not json", *lines[1:], '{"type": "mess']), encoding="utf-8")
    ran = coppice("compact", file, "--json")
    report = json.loads(ran.out)
    assert ran.code == 0
    assert len(report["warnings"]) == 2
    assert "2" in report["warnings"][0]
    assert ran.err.count("coppice: warning: ") == 2
    assert json.loads(lines[0])["id"] == HEADER["id"]
