"""Which files Git excludes, by the table that the extension's rules are tested with too."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from coppice.service.files.git_excludes import GitExcludes
from coppice.service.files.ignore_files import parsed_patterns

TABLE: Final = Path(__file__).parents[2] / "files" / "git_excludes.json"
CASES: Final = json.loads(TABLE.read_text(encoding="utf-8"))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path.resolve()
    for name in [each for each in os.environ if each.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(root / "home"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", str(root / "none"))
    monkeypatch.setenv("USERPROFILE", str(root / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (root / "shop").mkdir()
    (root / "home").mkdir()
    return root


def write(root: Path, case: dict[str, Any]) -> None:
    for repository in case["repositories"]:
        git = root / repository / ".git"
        for folder in ("objects", "refs"):
            (git / folder).mkdir(parents=True)
        (git / "HEAD").write_text("ref: refs/heads/main\n")
    for name, text in case["files"].items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text.replace("LONGEST", "x" * 70_000).replace("LONG", "x" * 400))
    for name, target in case.get("links", {}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(target)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_what_git_excludes_or_may_exclude_is_excluded(root: Path, case: dict[str, Any]) -> None:
    write(root, case)
    excludes = GitExcludes(root / "shop")
    names = [*case["excluded"], *case["shown"]]
    assert [name for name in names if excludes.excludes(name)] == case["excluded"]


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.parametrize(
    "case", [case for case in CASES if case.get("git", True)], ids=lambda case: str(case["name"])
)
def test_the_table_is_what_git_does(root: Path, case: dict[str, Any]) -> None:
    write(root, case)
    names = [*case["excluded"], *case["shown"]]
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", *names],
        cwd=root / "shop",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.split(), done.stderr) == (case["excluded"], "")


@pytest.mark.parametrize("text", ["[" * 100_000, 'a="' * 50_000, "\\\n" * 50_000])
def test_settings_that_are_damaged_name_no_file(root: Path, text: str) -> None:
    write(root, {"repositories": ["shop"], "files": {"shop/.git/config": text}})
    assert not GitExcludes(root / "shop").excludes("a.py")


def test_settings_that_include_more_and_more_exclude_all(root: Path) -> None:
    files = {f"shop/.git/c{n}": f"[include]\npath = c{n + 1}\n" for n in range(100)}
    first = {"shop/.git/config": "[include]\npath = c0\n"}
    write(root, {"repositories": ["shop"], "files": first | files})
    assert GitExcludes(root / "shop").excludes("a.py")


def test_a_comment_in_another_encoding_is_no_pattern_that_is_missing() -> None:
    assert parsed_patterns(b"# caf\xe9\n*.log\n", "").omitted == 0
    assert parsed_patterns(b"caf\xe9\n*.log\n", "").omitted == 1
