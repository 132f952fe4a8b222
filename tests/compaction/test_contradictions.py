"""What the computed state contradicts is named, and nothing else."""

from pathlib import Path

import pytest

from coppice.compaction.checking.contradictions import contradicted
from coppice.protocol.state import ChangedFile, Check, Commit, WorkState

STATE = WorkState(
    branch="feature/rows",
    commits=[
        Commit(hash="3f2a91c", subject="Add the importer", pushed=True),
        Commit(hash="8d0c6b2", subject="Sort rows"),
    ],
    uncommitted=[ChangedFile(path="src/rows.py")],
    checks=[
        Check(command="pytest", passed=False, result="2 failed, 10 passed"),
        Check(command="npm run lint", passed=False),
        Check(command="cargo build", passed=True),
        Check(command="mypy", passed=True, changed_since=["src/rows.py"]),
    ],
)
LABELLED = Path(__file__).with_name("contradictions.tsv").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("row", LABELLED)
def test_labelled_sentences(row: str) -> None:
    label, _, written = row.partition("\t")
    assert [claim.kind for claim in contradicted(written.replace("⏎", "\n"), STATE)] == (
        [] if label == "none" else [label]
    )


def test_a_claim_names_its_line_and_what_the_state_shows() -> None:
    (claim,) = contradicted("## Goal\nRows.\n- `pytest` passes.", STATE)
    assert (claim.text, claim.line, claim.shown) == (
        "pytest",
        2,
        "its newest run failed: 2 failed, 10 passed",
    )
    assert not claim.is_hard


def test_what_the_state_does_not_know_it_does_not_contradict() -> None:
    text = "\n".join(row.partition("\t")[2].replace("⏎", "\n") for row in LABELLED)
    assert contradicted(text, WorkState()) == []
