"""Texts that commands were given for others to read: comments, descriptions, reasons."""

import pytest
from attacks.linear_time import assert_linear
from documents import parts_of
from talk import edit, request, run, tool, user

from coppice.compaction.actions.action import Action, action_of
from coppice.compaction.facts.ledger import LedgerBuilder
from coppice.compaction.facts.publications import Publications
from coppice.compaction.summary_parser import parse_summary
from coppice.service.compaction.summary_parts import with_parts
from coppice.summarizers.offline import summarize_offline
from coppice.tree.messages import Message, ToolCall

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


def test_a_text_about_a_place_names_the_file_that_its_call_names() -> None:
    post = f"gh api comments/7/replies -f body='{TEXT}'"
    changed = edit("src/rows.py")

    def about(command: str, description: str, *before: Message) -> list[str]:
        call = tool("Bash", {"command": command, "description": description}, "ok")
        return [each for each, _ in published(*before, *call)]

    told = ["gh api comments/7/replies, on rows.py:12"]
    assert about(post, "Reply to the comment on `rows.py:12`.", *changed) == told
    assert about(f"{post} -F path=src/rows.py", "Reply", *changed) == [f"{told[0][:-10]}src/rows.py"]
    for description, before in (
        ("On rows.py", []),
        ("On rows.py and cells.py", [*changed, *edit("cells.py")]),
    ):
        assert about(post, description, *before) == ["gh api comments/7/replies"]
    call = tool("Bash", {"command": post, "description": "Reply to rows.py:12"}, "ok")
    summary = summarize_offline(request([user("Reply"), *changed, *call]))
    assert f"Written then with `gh api comments/7/replies`, on rows.py:12: {TEXT}" in summary


def test_a_word_names_a_file_only_with_a_folder_an_extension_or_a_line() -> None:
    def about(description: str) -> list[str]:
        post = {"command": f"gh pr comment 5 --body '{TEXT}'", "description": description}
        return [each for each, _ in published(*edit("src/config"), *tool("Bash", post, "ok"))]

    assert about("Reply about the config") == ["gh pr comment 5"]
    assert about("Reply about src/config") == ["gh pr comment 5, on src/config"]
    assert about("Reply on config:12") == ["gh pr comment 5, on config:12"]


def test_of_a_long_description_the_beginning_is_searched_for_places() -> None:
    def about(description: str) -> list[str]:
        post = {"command": f"gh pr comment 7 --body '{TEXT}'", "description": description}
        return [each for each, _ in published(*edit("src/rows.py"), *tool("Bash", post, "ok"))]

    assert about(f"On rows.py: {'word ' * 1_000}") == ["gh pr comment 7, on rows.py"]
    assert about(f"{'word ' * 1_000} rows.py") == ["gh pr comment 7"]
    assert about(f"{'-' * 989} rows.py:123") == ["gh pr comment 7"]  # not on line 12


def test_many_commands_of_a_call_whose_arguments_name_many_files_take_linear_time() -> None:
    def take(action: Action) -> None:
        publications = Publications()
        write = ToolCall(id="w", name="Write", arguments={"file_path": "a.py", "content": "x"})
        assert not [*publications.take(action_of("w", write, "ok", is_error=False))]
        assert not [*publications.take(action)]

    def sized(times: int) -> Action:
        arguments = {f"k{number}": f"d{number}/a.py" for number in range(1_500 * times)}
        arguments["command"] = "\n".join(["g h -b"] * (200 * times))
        return action_of("c", ToolCall(id="c", name="Bash", arguments=arguments), "ok", is_error=False)

    assert_linear("publications", take, sized)


def test_what_is_done_with_a_text_is_stated_once() -> None:
    session = [
        user("Do rows-1 and rows-2"),
        *run(f"bd close rows-1 --reason='{TEXT}\nIt is done.'", "Closed."),
        *run(f"gh pr create --head rows-2 --body '{TEXT}\nIt is done.'", "ok"),
        *run(f"gh pr merge 5 --squash --delete-branch --body '{TEXT}\nIt is done.'", "ok"),
    ]
    asked = request(session)
    narrative, parts = summarize_offline(asked), parts_of(asked).text
    assert "- Ran with success: `bd close rows-1 …`" in parts
    document = with_parts(narrative, parts)
    assert document.count("bd close rows-1") == 1
    for says_more in ("gh pr create --head rows-2", "gh pr merge 5 --squash --delete-branch --body …`"):
        assert f"- Ran with success: `{says_more}" in document
    assert with_parts("## Next Steps\n1. `bd close rows-1`", parts).count("bd close rows-1") == 2
    alone = request(session[:3])
    parts = parts_of(alone).text
    assert with_parts(summarize_offline(alone), parts).endswith(parts)


def test_each_publication_is_dated_also_beside_one_that_does_not_fit_and_listed_once() -> None:
    long = " ".join(f"Row {n} is read once." for n in range(200))
    texts = (TEXT, TEXT, long)
    session = [user("Reply"), *(m for text in texts for m in run(f"gh pr comment 7 --body '{text}'", "ok"))]
    summary = parse_summary(summarize_offline(request(session, max_tokens=600)))
    assert summary.done == (f"Written then with `gh pr comment 7`: {TEXT}",)


@pytest.mark.parametrize("last", ["*It is not fixed.*", "“Not fixed.”", "(It is not fixed.)", "还没有修好！"])
def test_a_sentence_that_ends_within_marks_gets_no_second_full_stop(last: str) -> None:
    comments = [run(f"jira comment {n} 'I tried it on rows {n}.\n\n{last}'", "ok") for n in (7, 9)]
    done = parse_summary(summarize_offline(request([user("Reply to them"), *comments[0], *comments[1]]))).done
    assert done == tuple(
        f"Written then with `jira comment {n}`: I tried it on rows {n}. {last}" for n in (9, 7)
    )
