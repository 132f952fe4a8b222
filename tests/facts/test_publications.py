"""Texts that commands were given for others to read: comments, descriptions, reasons."""

import pytest
from talk import edit, request, run, tool, user

from coppice.compaction.facts.ledger import LedgerBuilder
from coppice.compaction.summary_parser import parse_summary
from coppice.summarizers.offline import summarize_offline
from coppice.tree.messages import Message

TEXT = "Two workers read the rows. One of them waits now."


def published(*messages: Message) -> list[tuple[str, str]]:
    ledger = LedgerBuilder().add_messages([user("Reply to them"), *messages]).ledger
    return [(each.about, each.text) for each in ledger.quotations if each.kind == "publication"]


@pytest.mark.parametrize(
    ("command", "about"),
    [
        (f"gh pr comment 7 --body '{TEXT}'", "gh pr comment 7"),
        (f"bd close rows-1 --reason='{TEXT}'", "bd close rows-1"),
        (f"gh api replies -X POST -f body='{TEXT}'", "gh api replies"),
        (f"gh api graphql -f query='mutation($id: ID!) {{ reply }}' -f body='{TEXT}'", "gh api graphql"),
        (f"jira comment add '{TEXT}'", "jira comment add"),
    ],
)
def test_an_argument_of_sentences_is_what_was_published(command: str, about: str) -> None:
    assert published(*run(command, "ok")) == [(about, TEXT)]
    assert published(*run(command, "no access", is_error=True)) == []


@pytest.mark.parametrize("named", ["--body-file /tmp/reply.md", "-F body=@/tmp/reply.md"])
def test_a_scratch_file_is_published_when_a_command_is_given_it(named: str) -> None:
    written = tool("Write", {"file_path": "/tmp/reply.md", "content": TEXT}, "ok")  # noqa: S108
    shell = run(f"cat > /tmp/reply.md <<'EOF'\n{TEXT}\nEOF", "")
    for write in (written, shell):
        assert [text for _, text in published(*write, *run(f"gh post {named}", "ok"))] == [TEXT]
        assert published(*write, *run("cat /tmp/reply.md", TEXT)) == []


def test_code_and_files_of_the_work_are_no_publications() -> None:
    page = tool("Write", {"file_path": "docs/rows.md", "content": TEXT}, "ok")
    assert published(*page, *run("prettier --check docs/rows.md", "ok")) == []
    for command in (
        "mise exec -- sh -c 'PATH=\"$PATH:$PWD/stubs\" exec ./hk test --step a'",
        "python -c 'Rows = 1. ; print(Rows)  # It prints the rows.'",
        f"echo '{TEXT}'",
        "psql -c 'SELECT name FROM rows WHERE total > 1;'",
        f"pytest tests/test_rows.py -k '{TEXT}'",
        f"npm run test:unit -- -t '{TEXT}'",
        f"claude -p '{TEXT}'",
    ):
        assert published(*run(command, "ok")) == [], command


def test_what_was_published_is_done_without_what_was_removed_since() -> None:
    text = "Two workers read the rows. The lock is row_lock()."
    commented = [user("Reply"), *edit("a.py", "row_lock()"), *run(f"gh pr comment 7 --body '{text}'", "ok")]
    assert f"- [x] Written then with `gh pr comment 7`: {text}" in summarize_offline(request(commented))
    back = {"file_path": "a.py", "old_string": "row_lock()", "new_string": "x"}
    undone = summarize_offline(request([*commented, *tool("Edit", back, "ok")]))
    assert "Written then with `gh pr comment 7`: Two workers read the rows." in undone
    assert "row_lock" not in undone


def test_each_publication_is_dated_also_beside_one_that_does_not_fit_and_listed_once() -> None:
    long = " ".join(f"Row {n} is read once." for n in range(200))
    texts = (TEXT, TEXT, long)
    session = [user("Reply"), *(m for text in texts for m in run(f"gh pr comment 7 --body '{text}'", "ok"))]
    summary = parse_summary(summarize_offline(request(session, max_tokens=600)))
    assert summary.done == (f"Written then with `gh pr comment 7`: {TEXT}",)
