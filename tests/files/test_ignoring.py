"""What a watcher reports for nothing."""

import pytest

from coppice.files.ignoring import BUILT_IN_PATTERNS, MAX_PATTERN_LENGTH, MAX_PATTERNS, ignored, patterns


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/a.py", False),
        (".git/HEAD", True),
        ("lib/.git/objects/12/34", True),
        ("web/node_modules/left-pad/index.js", True),
        ("a/__pycache__/a.cpython-311.pyc", True),
        ("notes.md~", True),
        (".a.py.swp", True),
        (".gitignore", False),
        (".github/workflows/ci.yml", False),
    ],
)
def test_some_files_are_nobody_s_work(path: str, expected: bool) -> None:  # noqa: FBT001 - a table's column
    assert ignored(path, [BUILT_IN_PATTERNS]) is expected


def test_patterns_are_git_s_and_the_last_that_fits_decides() -> None:
    outer = patterns(["build/", "*.log", "!keep.log", "/only", "# a comment", ""])
    inner = patterns(["*.txt", "!x.log"], "pkg")
    rules = [BUILT_IN_PATTERNS, outer, inner]
    left_out = ["build/x", "a/build/x", "a.log", "a/b.log", "only", "pkg/a.txt", "pkg/deep/a.txt"]
    assert [path for path in left_out if not ignored(path, rules)] == []
    not_ignored = ["build", "keep.log", "a/only", "a.txt", "pkg/x.log", "pkgs/a.txt"]
    assert [path for path in not_ignored if ignored(path, rules)] == []


def test_a_folder_that_is_gone_is_known_by_its_pattern() -> None:
    assert ignored("build", [patterns(["build/"])], gone=True)


def test_a_setting_takes_back_what_is_built_in() -> None:
    assert not ignored("node_modules/mine/a.js", [BUILT_IN_PATTERNS, patterns(["!node_modules"])])


@pytest.mark.parametrize("line", ["[z-a]", "!", "\\", "a\\", "[", "x" * 5_000, "[[:no:]]", "//a", "a//b"])
def test_a_line_that_is_no_pattern_has_no_effect(line: str) -> None:
    rules = [patterns([line, "*.log"])]
    assert ignored("a.log", rules)
    assert not ignored("b.py", rules)
    assert not ignored("a/b", rules)


def test_lines_over_a_limit_are_counted() -> None:
    assert patterns(["a", "x" * (MAX_PATTERN_LENGTH + 1)]).omitted == 1
    assert patterns([f"a{count}" for count in range(MAX_PATTERNS + 7)]).omitted == 7
    assert patterns([f"[a-{letter}]" * 60 for letter in "bcdefghijklmnopqrstuvwxyz"]).omitted > 0


def test_names_that_differ_in_case_alone_are_one_where_the_files_are() -> None:
    lines = ["Local/", "[a-c]x", "*.LOG", "!Keep.log"]
    paths = ["local/x", "LOCAL/y", "Ax", "bX", "dx", "a.Log", "keep.LOG"]
    folded, plain = [patterns(lines, ignores_case=True)], [patterns(lines)]
    assert [ignored(path, folded) for path in paths] == [True, True, True, True, False, True, False]
    assert [path for path in paths if ignored(path, plain)] == ["keep.LOG"]
