"""The ledger: facts about the work of a conversation, computed from its entries without a model."""

from typing import Literal

from pydantic import Field

from coppice.protocol.base import ConversationParams, WireModel

RequestKind = Literal["request", "answer", "approval", "refusal"]
TaskState = Literal["open", "in_progress", "blocked", "done"]
JobState = Literal["running", "finished", "failed"]
ChangeKind = Literal["created", "edited", "renamed", "deleted"]
StatementKind = Literal["decision", "report", "finding", "plan", "published", "review", "comment"]
EventKind = Literal["announced", "planned", "changed", "ran", "started", "read"]


class Fact(WireModel):
    """`entryId` is the entry that the fact is based on; empty where that is not known."""

    entry_id: str = ""


class Request(Fact):
    """What the user asked for, answered, approved or refused, in the user's words.

    `about` is the question, the plan or the command that an answer, approval or refusal is about.
    `withdrawnBy` is the text of a later request that took this one back.
    """

    text: str
    kind: RequestKind = "request"
    about: str = ""
    withdrawn_by: str | None = None


class Rule(Fact):
    """A constraint, word for word. `source` is empty for the user's own, else names the message's kind.

    `strong` is false for a wish or a way of working.
    """

    text: str
    strong: bool = True
    source: str = ""


class Brief(Fact):
    """A description of the work that was read through a tool: an issue, a plan, a specification.

    `source` is the command, path or address it was read from; `lines` are its statements, in order.
    """

    source: str
    title: str
    lines: list[str] = Field(default_factory=list)


class Commit(Fact):
    """`hash` is as short as the tool printed it, empty where it printed none; `trailer` ends the message."""

    hash: str
    subject: str
    body: str = ""
    trailer: str = ""
    files: list[str] = Field(default_factory=list)
    branch: str = ""
    pushed: bool = False


class ChangedFile(Fact):
    """A file changed since the last commit. `edits` counts changes; `names` are definitions written."""

    path: str
    kind: ChangeKind = "edited"
    edits: int = 1
    names: list[str] = Field(default_factory=list)


class Check(Fact):
    """The last run of a test, build or lint command. `stale` means that a file was changed since."""

    command: str
    passed: bool
    result: str = ""
    stale: bool = False


class Problem(Fact):
    """A command or change that failed with `error`.

    `explanation` is what the assistant wrote about it; `fix` names what was changed before it worked, and
    `code` is what the last of those changes added, where that is short. With `isChange` a tool could not make
    a change; a later change of the file, or a commit, settles it.
    """

    what: str
    error: str
    explanation: str = ""
    fix: list[str] = Field(default_factory=list)
    code: str = ""
    is_change: bool = False
    open: bool = True


class Task(Fact):
    """`id` is empty for an item of a to-do list."""

    id: str = ""
    title: str = ""
    state: TaskState = "open"


class Job(Fact):
    """A command that was started in the background. `result` is the last line that is known of it."""

    id: str
    command: str
    state: JobState = "running"
    result: str = ""


class Statement(Fact):
    """What the assistant stated, published or was reported, word for word.

    `about` is what it was published with, who reported it, or which files were changed to carry it out;
    `score` orders statements by their use.
    """

    text: str
    kind: StatementKind
    about: str = ""
    score: float = 0.0


class Event(Fact):
    """One of the newest events of the turn: what the assistant announced or planned, changed, ran, started in
    the background, or read.

    `text` is the announcement, the command or the paths; `result` how it ended or what a change added.
    """

    text: str
    kind: EventKind
    result: str = ""
    failed: bool = False


class Note(Fact):
    """A line of an earlier summary that no model or rule can recompute; `section` is where it was."""

    section: str
    text: str


class WorkLedger(WireModel):
    """All facts, oldest first. `folded` counts the older settled ones that are no longer listed, by kind.

    `intent` is what the assistant announced last or, at the end of a turn, asked the user; `finished` says
    that the turn has ended. `recent` are the newest events of the turn. `routine` are the commands that ran
    between the last change and its commit and push.
    """

    requests: list[Request] = Field(default_factory=list)
    rules: list[Rule] = Field(default_factory=list)
    briefs: list[Brief] = Field(default_factory=list)
    commits: list[Commit] = Field(default_factory=list)
    uncommitted: list[ChangedFile] = Field(default_factory=list)
    checks: list[Check] = Field(default_factory=list)
    problems: list[Problem] = Field(default_factory=list)
    tasks: list[Task] = Field(default_factory=list)
    jobs: list[Job] = Field(default_factory=list)
    statements: list[Statement] = Field(default_factory=list)
    notes: list[Note] = Field(default_factory=list)
    recent: list[Event] = Field(default_factory=list)
    branch: str = ""
    routine: list[str] = Field(default_factory=list)
    intent: str = ""
    finished: bool = False
    folded: dict[str, int] = Field(default_factory=dict)


class LedgerParams(ConversationParams):
    """`leafId` names another leaf than the current one."""

    leaf_id: str | None = None


class LedgerResult(WireModel):
    """`leafId` is the leaf that the ledger is about; null in an empty conversation."""

    leaf_id: str | None
    ledger: WorkLedger
    read_files: list[str]
    modified_files: list[str]
    deleted_files: list[str]
