"""The state of the work, computed from evidence: what commands and tools showed."""

from typing import Literal

from pydantic import Field

from coppice.protocol.base import WireModel

TaskState = Literal["open", "in_progress", "blocked", "done"]
JobState = Literal["running", "finished", "failed", "stopped"]
ChangeKind = Literal["created", "changed", "renamed", "deleted"]


class Fact(WireModel):
    """`entryId` is the entry with the newest evidence; empty where that is not known."""

    entry_id: str = ""


class Commit(Fact):
    """A commit made during the conversation, by whoever made it.

    `hash` is as short as it was printed; empty where no output showed it. `files` are those that the
    conversation changed and the commit took.
    """

    hash: str = ""
    subject: str
    body: str = ""
    branch: str = ""
    files: list[str] = Field(default_factory=list)
    pushed: bool = False


class ChangedFile(Fact):
    """A file with changes that no commit took. `changed` also means that it is not known to be new."""

    path: str
    kind: ChangeKind = "changed"


class Check(Fact):
    """The newest run of a test, build or lint command, by command, where its result is known.

    `result` is the line that counts its results. `changedSince` are files that were changed afterwards.
    """

    command: str
    passed: bool
    result: str = ""
    changed_since: list[str] = Field(default_factory=list)


class RanCommand(Fact):
    """A command that succeeded and names something with a digit, such as an issue, and that does none of
    looking, checking and handling files.
    """

    command: str


class UsedCommand(Fact):
    """The commands of a form, in which numbers and long texts are alike: with `…` for what differs, and how
    many there were at least. Programs that only look at files or handle files or the shell, and git, are
    not counted.
    """

    command: str
    times: int = 0


class Failure(Fact):
    """A command of the newest turn that failed and that was not repeated with success."""

    command: str
    error: str = ""


class Task(Fact):
    """A task of a to-do tool. `id` is empty where tasks have none."""

    id: str = ""
    title: str
    state: TaskState = "open"


class Job(Fact):
    """A command that was started in the background. `result` is the last line that was read of it."""

    id: str
    command: str
    state: JobState = "running"
    result: str = ""


class WorkState(WireModel):
    """What is true at the end, oldest first. What no evidence shows is absent.

    `branch` is empty where it is not known. `baseCommit` is the newest commit from before the conversation,
    once a log showed it.
    """

    branch: str = ""
    base_commit: str = ""
    commits: list[Commit] = Field(default_factory=list)
    uncommitted: list[ChangedFile] = Field(default_factory=list)
    checks: list[Check] = Field(default_factory=list)
    commands: list[RanCommand] = Field(default_factory=list)
    used: list[UsedCommand] = Field(default_factory=list)
    failures: list[Failure] = Field(default_factory=list)
    tasks: list[Task] = Field(default_factory=list)
    jobs: list[Job] = Field(default_factory=list)
