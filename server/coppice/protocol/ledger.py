"""The ledger of a conversation: the user's messages, the state of the work, and quotations."""

from typing import Literal

from pydantic import Field

from coppice.protocol.base import ConversationParams, LongParams, WireModel
from coppice.protocol.state import Fact, WorkState

MessageSource = Literal["user", "answer", "refusal", "developer", "system", "memory", "extension"]
QuotationKind = Literal[
    "report", "answer", "cause", "approval", "brief", "announcement", "reason", "plan", "publication"
]


class LedgerMessage(Fact):
    """A message in its writer's words. A `shortened` one has marks where text was left out.

    `source` is who wrote it: the user, the user answering or refusing what `about` names, the application,
    the system, a memory file, or an extension.
    """

    text: str
    source: MessageSource = "user"
    about: str = ""
    shortened: bool = False


class Quotation(Fact):
    """What the assistant wrote, or a document, word for word, chosen by its place and not by its words.

    `report` ended a turn that changed files, `answer` one that changed none; `about` is the user's message
    that began the turn. `cause` was written in the unfinished turn, after the check `about` failed.
    `approval` is a question that the user answered with `about`. `brief` is a document that the user named,
    as the command or path `about` showed it, before the command that follows there, if one acted on
    it since, and that was not closed or edited. `announcement` is what
    an unfinished turn was to do next, and `about` names the files that it then changed. `reason` is what was
    written before files changed, without the steps, where it gives a cause, a contrast or a limit, or where a
    check had failed; `about` names the files, what was written where it is short, and the check. Without
    `about` it is why something was proposed that an `approval` of the same entry accepted. `plan` is the
    newest numbered list of an unfinished turn, or what was written before its first call, and `about` the
    files changed since. `publication` is a text, such as a comment, that the command `about` was given,
    with the file that the call names, if one. With
    `overtaken`, files have changed since a report or an answer was written: sentences that name what the
    changes removed are left out; `beforeCommit` names the first commit after it.
    """

    text: str
    kind: QuotationKind
    about: str = ""
    overtaken: bool = False
    before_commit: str = ""


class WorkLedger(WireModel):
    """Everything oldest first. `state` holds no statement of anybody, only evidence.

    `finished` says that the assistant has ended its turn, `replied` that it has by the end of what the model
    still sees: that the user's newest request was replied to; null where the user wrote again before that,
    which may have ended the request. `earlier` is the narrative of an earlier summary that a model or a
    person wrote, and `earlierBeforeCommit` the first commit since then whose turn has ended: its next steps
    are out of date. `leftOut` counts the older messages and quotations that are no longer listed.
    """

    messages: list[LedgerMessage] = Field(default_factory=list)
    state: WorkState = Field(default_factory=WorkState)
    quotations: list[Quotation] = Field(default_factory=list)
    finished: bool = False
    replied: bool | None = False
    earlier: str = ""
    earlier_before_commit: str = ""
    left_out: int = 0


class LedgerParams(LongParams, ConversationParams):
    """`leafId` names another leaf than the current one."""

    leaf_id: str | None = None


class LedgerResult(WireModel):
    """`leafId` is the leaf that the ledger is about; null in an empty conversation.

    The facts are computed from the newest 100,000 entries since the last compaction; `notRead` is how many
    there are before those, absent where there is none. Each list of files has at most 1,000 paths, the first
    ones; `filesLeftOut` counts the others, which `coppice/files` lists, likewise.
    """

    leaf_id: str | None
    ledger: WorkLedger
    read_files: list[str]
    modified_files: list[str]
    deleted_files: list[str]
    not_read: int | None = None
    files_left_out: int | None = None
