"""Commits, and what was changed since: read from git's commands and their outputs."""

import re
from collections.abc import Sequence
from typing import Final, get_args

from coppice.compaction.ledger.shell import Stage, is_looking, split_heredocs, stages_of
from coppice.compaction.ledger.steps import Action
from coppice.compaction.ledger.tasks import closes_task
from coppice.compaction.ledger.written import definitions_in
from coppice.compaction.text.paths import is_about_work
from coppice.compaction.text.sentences import clip, label, one_line
from coppice.protocol.ledger import ChangedFile, ChangeKind, Commit, WorkLedger

_MOST_ROUTINE: Final = 8  # routine commands since a change (guess)
_BODY_CHARS: Final = 1_600  # characters of a commit's message (guess)
_MOST_NAMES: Final = 8  # definitions that a commit is known for (guess)
_COMMITTED: Final = re.compile(
    r"^\[(\S{1,200})(?: \([a-z-]{1,20}\))? ([0-9a-f]{7,40})\] (.{1,400})", re.MULTILINE
)
_LOGGED: Final = re.compile(r"^(?:\* )?([0-9a-f]{7,40})(?: \([^)\n]{1,200}\))? (.{4,200})$", re.MULTILINE)
_KINDS: Final[dict[str, ChangeKind]] = {kind: kind for kind in get_args(ChangeKind)}
_ON_BRANCH: Final = re.compile(r"^On branch (\S{1,200})", re.MULTILINE)
_CLEAN: Final = re.compile(r"nothing to commit, working tree clean")
_ALL: Final = re.compile(r"--all|-[b-z]{0,8}a[a-z]{0,8}")
_MOVE: Final = 2  # paths: from, to
_STATUS_COMMAND: Final = re.compile(
    r"\bgit(?: -C \S{1,200})? status(?: (?:-s|-b|-sb|--short|--branch|--porcelain))*\s*(?:$|[;&\n])"
)
_STATUS: Final = re.compile(r"^(?:[ MADRCTU?]{2} |\t(?:[a-z ]{4,20}: {1,12})?)(\S.{0,400})$", re.MULTILINE)
_TRAILER: Final = re.compile(r"[A-Z][a-z]+(?:-[A-Za-z]+)+: ")


def note_changes(ledger: WorkLedger, action: Action) -> list[str]:
    """Takes in the files that `action` changed; their paths come back."""
    changed = []
    for touch in action.changes:
        if not is_about_work(touch.path):
            continue
        known = next((file for file in ledger.uncommitted if same_path(file.path, touch.path)), None)
        if touch.kind == "renamed" and touch.from_path:
            known = next((file for file in ledger.uncommitted if file.path == touch.from_path), known)
        kind = _KINDS.get(touch.kind, "edited")
        file = known or ChangedFile(path=touch.path, kind=kind, edits=0)
        if known is not None:
            ledger.uncommitted.remove(known)
        if kind == "renamed":
            file.path = touch.path
        if kind in ("deleted", "renamed"):
            file.kind = kind
        file.edits += 1
        file.entry_id = action.entry
        ledger.uncommitted.append(file)
        changed.append(file.path)
    if changed:
        names = dict.fromkeys(name for text in action.written for name in definitions_in(text))
        last = ledger.uncommitted[-1]
        last.names = [*(name for name in last.names if name not in names), *names][-_MOST_NAMES:]
    return changed


def note_version_control(ledger: WorkLedger, action: Action, staged: list[str]) -> None:
    """Takes in the commits, pushes and states that `action`'s git commands and outputs show.

    `staged` are the arguments of each `git add` since the last commit; it is brought up to date.
    """
    for command in action.commands:
        for stage in stages_of(command):
            if stage.program in ("rm", "mv") or stage.runs("git", "rm", "mv"):
                _move_away(ledger, action, stage)
            elif stage.program == "git" and (not action.failed or stage.runs("git", "add", "commit")):
                _apply(ledger, action, command, stage, staged)
        if _STATUS_COMMAND.search(command):
            _read_status(ledger, action.output)
    if any("git" in command for command in action.commands):
        _read_output(ledger, action.output)


def same_path(one: str, other: str) -> bool:
    """Whether two paths name the same file, one of them perhaps relative."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def _apply(ledger: WorkLedger, action: Action, command: str, stage: Stage, staged: list[str]) -> None:
    arguments = [word for word in stage.arguments if not word.startswith("-")]
    if stage.runs("git", "add"):
        staged += stage.arguments[1:]
    elif stage.runs("git", "commit"):
        _commit(ledger, action, command, stage, staged)
    elif stage.runs("git", "push"):
        for commit in ledger.commits:
            commit.pushed = True
    elif stage.runs("git", "checkout", "switch"):
        created = "-b" in stage.arguments or "-c" in stage.arguments
        if (created or "--" not in stage.arguments) and len(arguments) > 1:
            ledger.branch = arguments[1]
        if "--" in stage.arguments and arguments[1:]:
            _take(ledger, arguments[1:])
    elif stage.runs("git", "restore") and arguments[1:] and "--staged" not in stage.arguments:
        _take(ledger, arguments[1:])
    elif (stage.runs("git", "stash") and arguments[1:2] in ([], ["push"])) or (
        stage.runs("git", "reset") and "--hard" in stage.arguments
    ):
        ledger.uncommitted.clear()
        staged.clear()
    elif stage.runs("git", "reset"):
        staged.clear()


def _commit(ledger: WorkLedger, action: Action, command: str, stage: Stage, staged: list[str]) -> None:
    stated = list(_COMMITTED.finditer(action.output))
    subject, body, trailer = _message(command, stage)
    if not stated and (action.failed or not subject):
        return
    match = next((each for each in stated if one_line(each[3]) == subject), stated[-1] if stated else None)
    added = [] if any(map(_ALL.fullmatch, stage.arguments)) else list(staged)
    staged.clear()
    amended = "--amend" in stage.arguments and ledger.commits
    before = ledger.commits.pop() if amended else Commit(hash="", subject="")
    commit = Commit(
        entry_id=action.entry,
        hash=match[2] if match else "",
        subject=label(subject or (match[3] if match else before.subject)),
        body=clip(body, _BODY_CHARS) or before.body,
        files=list(dict.fromkeys([*before.files, *_take(ledger, added)])),
        branch=match[1] if match else ledger.branch,
        trailer=trailer,
    )
    ledger.branch = commit.branch or ledger.branch
    ledger.problems = [each for each in ledger.problems if not (each.open and each.is_change)]
    ledger.commits.append(commit)


def _take(ledger: WorkLedger, named: Sequence[str]) -> list[str]:
    """Takes what `git add`, `checkout` or `restore` names out of the uncommitted files; all with no name."""
    names = [path.removeprefix("./").rstrip("/") for path in named if not path.startswith("-")]
    everything = not names or "." in names or any(flag in ("-A", "--all", "-u") for flag in named)
    taken = [
        file for file in ledger.uncommitted if everything or any(_covers(name, file.path) for name in names)
    ]
    ledger.uncommitted = [file for file in ledger.uncommitted if file not in taken]
    return [file.path for file in taken]


def _move_away(ledger: WorkLedger, action: Action, stage: Stage) -> None:
    """Takes in that changed files were deleted, or one renamed. What is made and deleted is no change."""
    plain = [word.removeprefix("./").rstrip("/") for word in stage.arguments if not word.startswith("-")]
    paths = plain[1:] if stage.program == "git" else plain
    if action.failed or not paths or "--cached" in stage.arguments:
        return
    moves = "mv" in (stage.program, plain[0])
    for file in list(ledger.uncommitted):
        if moves and len(paths) == _MOVE and same_path(file.path, paths[0]):
            file.path = file.path.removesuffix(paths[0]) + paths[1]
        elif not moves and any(_covers(path, file.path) for path in paths):
            if file.kind == "created":
                ledger.uncommitted.remove(file)
            file.kind = "deleted"


def _read_status(ledger: WorkLedger, output: str) -> None:
    """Files that `git status` does not list are committed; if it lists none, it is of another folder."""
    named = [match[1].rpartition(" -> ")[2].strip('"').rstrip("/") for match in _STATUS.finditer(output)]
    left = [file for file in ledger.uncommitted if any(_covers(name, file.path) for name in named)]
    ledger.uncommitted = left or ledger.uncommitted


def _covers(name: str, path: str) -> bool:
    return same_path(path, name) or f"/{name}/" in f"/{path}"


def _message(command: str, stage: Stage) -> tuple[str, str, str]:
    """Subject, body and last trailer of a `git commit`, from its options or a here-document."""
    texts = []
    words = stage.arguments
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if word == "--message" or re.fullmatch(r"-\w{0,8}m", word):
            texts.append(following)
        elif word.startswith("--message="):
            texts.append(word.partition("=")[2])
    _, bodies = split_heredocs(command)
    if bodies and (not texts or "<<" in texts[0]):
        texts = bodies[-1:]
    lines = "\n\n".join(texts).strip().splitlines()
    if not lines:
        return "", "", ""
    trailers = [line.strip() for line in lines[1:] if _TRAILER.match(line)]
    rest = [line for line in lines[1:] if not _TRAILER.match(line)]
    return one_line(lines[0]), "\n".join(rest).strip(), trailers[-1] if trailers else ""


def _read_output(ledger: WorkLedger, output: str) -> None:
    if branch := _ON_BRANCH.search(output):
        ledger.branch = branch[1]
    if _CLEAN.search(output):
        ledger.uncommitted.clear()
    for match in _LOGGED.finditer(output[:20_000]):
        for commit in ledger.commits:
            if commit.subject == match[2].strip() and not match[1].startswith(commit.hash or "-"):
                commit.hash = match[1]


def note_routine(ledger: WorkLedger, action: Action, since_change: list[str]) -> None:
    """Takes in what ran since the last change, and keeps it once a commit, a push or a closed task ends the
    step.
    """
    for stage in action.stages if not action.failed else ():
        if is_looking(stage) or stage.runs("git", "add"):
            continue
        plain = [word for word in stage.words[:3] if " " not in word and "/" not in word]
        since_change.append(label(" ".join(plain)))
        if stage.runs("git", "commit", "push") or closes_task(stage):
            ledger.routine = list(dict.fromkeys(since_change))[-_MOST_ROUTINE:]
