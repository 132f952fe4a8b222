"""What the last line of git's log of HEAD says."""

import pytest

from coppice.files.git_log import last_update

OLD, NEW = "1" * 40, "2" * 40
WHO = "A Name <a@example.org> 1795332497 +0000"


def log(message: str, old: str = OLD, new: str = NEW) -> bytes:
    return f"{old} {old} {WHO}\tcommit: earlier\n{old} {new} {WHO}\t{message}\n".encode()


@pytest.mark.parametrize(
    ("message", "action", "target"),
    [
        ("checkout: moving from main to feature-x", "checkout", "feature-x"),
        ("checkout: moving from feature-x to HEAD~1", "checkout", "HEAD~1"),
        ("merge feature-x: Fast-forward", "merge", "feature-x"),
        ("pull origin main: Fast-forward", "pull", None),
        ("reset: moving to origin/main", "reset", "origin/main"),
    ],
)
def test_an_action_that_replaces_files_is_an_update(message: str, action: str, target: str | None) -> None:
    update = last_update(log(message))
    assert update is not None
    assert (update.action, update.target, update.commit) == (action, target, NEW)


@pytest.mark.parametrize(
    "message",
    [
        "commit: moving from main to feature-x",
        "commit (amend): words",
        "commit (merge): Merge branch 'feature-x'",
        "cherry-pick: words",
        "revert: words",
        "",
    ],
)
def test_work_is_no_update(message: str) -> None:
    assert last_update(log(message)) is None


def test_a_checkout_that_makes_a_branch_replaces_no_file() -> None:
    assert last_update(log("checkout: moving from main to feature-x", new=OLD)) is None


def test_a_rebase_is_an_update_though_its_last_step_moves_nothing() -> None:
    update = last_update(log("rebase (finish): returning to refs/heads/feature-x", new=OLD))
    assert update is not None
    assert (update.action, update.target) == ("rebase", "feature-x")
    pulled = last_update(log("pull --rebase (finish): returning to refs/heads/main", new=OLD))
    assert pulled is not None
    assert pulled.action == "pull"


def test_the_name_is_text_on_one_line_of_bounded_length() -> None:
    update = last_update(log(f"checkout: moving from main to \x1b[31m\u202e{'x' * 5_000}"))
    assert update is not None
    assert update.target is not None
    assert update.target.isprintable()
    assert len(update.target) <= 250


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe\x00", b"x" * 4096, f"{OLD} {NEW}\t".encode()])
def test_what_is_no_log_is_no_update(content: bytes) -> None:
    assert last_update(content) is None
