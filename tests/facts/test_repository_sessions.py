"""The computed state of random sessions in real git repositories, compared with what git says at the end."""

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from facts.repository_session import RepositorySession

SEED = int(os.environ.get("COPPICE_FAULT_SEED", "0"))
"""CI draws other sessions for each commit. A failure names the session, which its number gives again."""
LEAST_RECALL = 0.95
MOST_WRONG = 0.01
"""Of what is stated in sessions that are drawn anew. Of 200 drawn by hand one statement of 860 was wrong."""


@dataclass
class Judged:
    """What was stated and is wrong, and how much of what is true, and was seen, is stated."""

    wrong: list[str] = field(default_factory=list)
    claims: int = 0
    stated: int = 0
    true: int = 0

    def add(self, session: RepositorySession, seed: int) -> None:
        before = len(self.wrong)
        self._files(session)
        self._commits(session)
        state = session.state()
        self.claims += len(state.uncommitted) + len(state.commits) + len(state.checks) + 1
        if state.branch not in ("", session.branch()):
            self.wrong.append(f"branch {state.branch}, is {session.branch()}")
        if session.check is not None:
            checks = [check for check in state.checks if check.command == "make test"]
            self.true += 1
            self.stated += bool(checks)
            self.wrong += [f"check {check}" for check in checks if check.passed != session.check]
        self.wrong[before:] = [f"session {seed}: {text}" for text in self.wrong[before:]]

    def _files(self, session: RepositorySession) -> None:
        status = session.status()
        stated = {file.path: file.kind for file in session.state().uncommitted}
        self.wrong += [
            f"{path} {kind}, has no changes" for path, kind in stated.items() if path not in status
        ]
        self.wrong += [
            f"{path} deleted, is {status[path]}"
            for path, kind in stated.items()
            if kind == "deleted" and "D" not in status.get(path, "D")
        ]
        seen = {path for path in status if path not in session.unseen}
        self.true += len(seen)
        self.stated += len(seen & stated.keys())

    def _commits(self, session: RepositorySession) -> None:
        made = session.commits()
        stated = session.state().commits
        for commit in stated:
            hashes = [digest for digest in made if commit.hash and digest.startswith(commit.hash)]
            if not hashes and (commit.hash or commit.subject not in made.values()):
                self.wrong.append(f"commit {commit.hash} {commit.subject} is not on the branch")
            if commit.pushed and hashes and not session.git("branch", "-r", "--contains", hashes[0]).strip():
                self.wrong.append(f"commit {commit.hash} is not pushed")
        self.true += len(made)
        self.stated += sum(
            any(digest.startswith(each.hash) if each.hash else each.subject == subject for each in stated)
            for digest, subject in made.items()
        )


def judged(folder: Path, first: int, count: int) -> Judged:
    result = Judged()
    for seed in range(first, first + count):
        place = folder / str(seed)
        place.mkdir()
        result.add(RepositorySession(place, seed), seed)
    return result


@pytest.mark.timeout(300)
def test_what_is_stated_is_so_and_what_is_so_is_stated(tmp_path: Path) -> None:
    result = judged(tmp_path, 0, 40)
    assert result.wrong == []
    assert result.stated >= LEAST_RECALL * result.true


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_of_sixty_other_sessions_too(tmp_path: Path) -> None:
    result = judged(tmp_path, 1_000 + SEED % 1_000_000, 60)
    assert len(result.wrong) <= MOST_WRONG * result.claims, result.wrong
    assert result.stated >= LEAST_RECALL * result.true
