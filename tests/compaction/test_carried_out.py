"""Instructions that hold once are no constraints any more when a command has followed them."""

import pytest
from talk import edit, reply, request, run, user

from coppice.compaction.ledger.builder import LedgerBuilder, ledger_of
from coppice.compaction.ledger.carried_out import carried_out_in
from coppice.protocol.ledger import Note
from coppice.summarizers.offline import summarize_offline

FOLLOWED = [
    ("Commit and push", "git commit -m 'Add the reader'"),
    ("We need to rebase on main now", "git rebase origin/main"),
    ("Please rerun the tests", "npm test"),
    ("Make sure to run the tests, then tell me", "mise run test:bats"),
    ("ok make a pr", "gh pr create --title x"),
    ("现在提交并推送", "git commit -m 'Add the reader'"),
    ("请再运行一次测试", "cargo test"),
]
LASTING = [
    ("Never push to main", "git push origin main"),
    ("Always run the tests before you commit", "npm test"),
    ("Commit in small steps", "git commit -m 'Add the reader'"),
    ("Run the tests with four workers", "npm test"),
    ("Use cargo fmt", "cargo fmt"),
    ("每次提交前都要运行测试", "cargo test"),
    ("不要推送", "git push"),
]


@pytest.mark.parametrize(("sentence", "command"), FOLLOWED)
def test_an_instruction_that_a_command_followed_is_done(sentence: str, command: str) -> None:
    assert list(carried_out_in([user(sentence), *run(command, "ok")])) == [sentence]
    assert carried_out_in([user(sentence), *run(command, "error: no", is_error=True)]) == []
    assert carried_out_in([*run(command, "ok"), user(sentence)]) == []
    assert carried_out_in([user(sentence), *run("git status", "clean")]) == []


@pytest.mark.parametrize(("sentence", "command"), LASTING)
def test_what_holds_from_now_on_stays(sentence: str, command: str) -> None:
    messages = [user(f"Build the reader. {sentence}."), *run(command, "ok"), reply("Done.")]
    assert carried_out_in(messages) == []


def test_the_ledger_drops_the_rule_that_was_followed_and_keeps_the_others() -> None:
    messages = [
        user("We need to rebase on main now. Never use eval."),
        *edit("a.py"),
        *run("git rebase origin/main", "Successfully rebased"),
    ]
    assert [rule.text for rule in ledger_of(messages).rules] == ["Never use eval."]
    assert (
        "rebase" not in summarize_offline(request(messages)).partition("## Constraints")[2].partition("##")[0]
    )
    builder = LedgerBuilder()
    builder.ledger.notes = [
        Note(section="constraints", text="Rerun the tests."),
        Note(section="goal", text="x"),
    ]
    builder.add_messages(run("npm test", "3 passed"))
    assert [note.text for note in builder.ledger.notes] == ["x"]
