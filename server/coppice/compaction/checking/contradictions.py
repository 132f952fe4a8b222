"""Which statements of a summary the computed state contradicts. Nothing is changed.

Only plain statements about the end are compared, those that name a check's command, a commit's hash or the
current branch, or say that nothing is uncommitted. A sentence with a word of time, condition or denial may be
about something else.
"""

import re
from collections.abc import Iterator
from typing import Final

from coppice.compaction.checking.verification import HASH, Claim
from coppice.compaction.text.markdown import CODE, HEADING
from coppice.compaction.text.sentences import one_line, sentences_of
from coppice.protocol.state import Commit, WorkState

_BLOCKED: Final = "### Blocked"
_PASSES: Final = re.compile(
    r"\b(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)|clean|(?:no|0) (?:errors|failures|issues))\b|通过",
    re.IGNORECASE,
)
_FAILS: Final = re.compile(r"\b(?:fails|is failing|still failing)\b|失败", re.IGNORECASE)
_QUALIFIED: Final = re.compile(
    r"\b(?:not|never|no longer|\w+n't|without|un(?:til|less)|before|after(?:wards)?|once|earlier|first|then"
    r"|when|while|if|since|had|was|were|will|would|can|could|may|must|should|to|needs?|expect\w*|again)\b"
    r"|[之以]前|如果|应该|必须|没有|曾|未",
    re.IGNORECASE,
)
_FAILURE: Final = re.compile(r"\bfail\w*|\bbroke\w*|\berrors?\b|失败", re.IGNORECASE)
_COMMITTED: Final = re.compile(
    r"\b(?:working tree is clean|(?:nothing|no file) is uncommitted|there are no uncommitted changes"
    r"|(?:everything|all (?:work|changes)) (?:is|are) committed)\b",
    re.IGNORECASE,
)
_BRANCH: Final = re.compile(
    r"\b(?:current branch is|currently on(?: branch)?|checked[- ]out branch is) `?([\w./-]*\w)", re.IGNORECASE
)
_UNPUSHED: Final = re.compile(r"\b(?:not (?:yet )?pushed|unpushed)\b", re.IGNORECASE)
_SHOWN_FILES: Final = 5  # files that a report names (guess)


def contradicted(text: str, state: WorkState) -> list[Claim]:
    """The claims of `text` that `state` contradicts, in order. Linear in `text`."""
    claims: list[Claim] = []
    blocked = False
    for number, line in enumerate(text.splitlines()):
        if HEADING.match(line):
            blocked = line.strip() == _BLOCKED
        else:
            for sentence in sentences_of(line):
                claims += _claims_in(sentence, number, state, blocked=blocked)
    return claims


def _claims_in(sentence: str, line: int, state: WorkState, *, blocked: bool) -> Iterator[Claim]:
    yield from _pushes_in(sentence, line, state)
    if _QUALIFIED.search(CODE.sub("", sentence)):
        return
    yield from _checks_in(sentence, line, state, blocked=blocked)
    if state.uncommitted and (match := _COMMITTED.search(sentence)):
        paths = ", ".join(file.path for file in state.uncommitted[-_SHOWN_FILES:])
        yield Claim("worktree", match[0], line, f"not committed: {paths}")
    if state.branch and (match := _BRANCH.search(sentence)) and match[1] != state.branch:
        yield Claim("branch", match[1], line, f"on branch {state.branch}")


def _checks_in(sentence: str, line: int, state: WorkState, *, blocked: bool) -> Iterator[Claim]:
    """A check that is said to pass and failed, and under Blocked one that is said to fail and passes."""
    named = {one_line(match[0].strip("`")) for match in CODE.finditer(sentence)}
    checks = [check for check in state.checks if check.command in named]
    if len(checks) != 1:
        return
    check, said = checks[0], CODE.sub("", sentence)
    passes, fails = bool(_PASSES.search(said)), bool(_FAILURE.search(_PASSES.sub("", said)))
    if passes and not fails and not check.passed:
        yield Claim("check", check.command, line, f"its newest run failed: {check.result}".rstrip(": "))
    elif blocked and _FAILS.search(said) and not passes and check.passed and not check.changed_since:
        yield Claim("check", check.command, line, f"its newest run passed: {check.result}".rstrip(": "))


def _pushes_in(sentence: str, line: int, state: WorkState) -> Iterator[Claim]:
    """A commit that is said not to be pushed, and was."""
    hashes = HASH.findall(sentence)
    if len(hashes) == 1 and _UNPUSHED.search(sentence):
        for commit in state.commits:
            if commit.pushed and _is(commit, hashes[0]):
                yield Claim("commit", hashes[0], line, "pushed")


def _is(commit: Commit, written: str) -> bool:
    return bool(commit.hash) and (commit.hash.startswith(written) or written.startswith(commit.hash))
