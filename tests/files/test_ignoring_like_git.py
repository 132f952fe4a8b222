"""Our patterns ignore what `git check-ignore` ignores."""

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coppice.files.ignoring import ignored, patterns

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

FOLDER = "d"
"""The only folder on disk, which git would know for one when it is asked about."""

NAMES = ("a", "b", "d", "ab", "aab", "a.b", "c", "-", "]", "B")
PIECES = (*"abcB.-]!#\\ ", "*", "**", "?", "/", "/", "[ab]", "[!a]", "[^-a]", "[]a]", "[a-c]", "[[:upper:]]")
GIT_DIFFERS = re.compile(r"[^*?\[\\]*[^/*?\[\\]\*\*")
"""Two stars after a literal beginning that ends within a name: regular stars by git's documentation. But git
cuts the literal beginning off before it matches, so that `a**/b` ignores `ab` and `ax/y/b` too."""

lines = (
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=8)
    .map("".join)
    .filter(lambda line: not GIT_DIFFERS.match(line))
)
paths = (
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join).filter(lambda path: path != FOLDER)
)


@pytest.fixture(scope="module")
def repository() -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q", folder], check=True)
        yield Path(folder)


def ignored_by_git(repository: Path, asked: Sequence[str]) -> set[str]:
    command = ["git", "-c", "core.excludesFile=/dev/null", "-c", "core.ignoreCase=false"]
    done = subprocess.run(
        [*command, "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=repository,
        input="".join(f"{path}\0" for path in asked),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    return {path for path in done.stdout.split("\0") if path}


@given(
    outer=st.lists(lines, max_size=5), inner=st.lists(lines, max_size=3), asked=st.lists(paths, min_size=20)
)
@settings(max_examples=150, deadline=None)
def test_what_git_ignores_is_ignored(
    repository: Path, outer: list[str], inner: list[str], asked: list[str]
) -> None:
    (repository / FOLDER).mkdir(exist_ok=True)
    (repository / ".gitignore").write_text("\n".join(outer))
    (repository / FOLDER / ".gitignore").write_text("\n".join(inner))
    rules = [patterns(outer), patterns(inner, FOLDER)]
    assert {path for path in asked if ignored(path, rules)} == ignored_by_git(repository, asked)
