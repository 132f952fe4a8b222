"""The errors of well-formed requests. The table of docs/protocol.md is made from the classes' docstrings."""

from typing import Any, ClassVar


class CoppiceError(Exception):
    """A well-formed request that cannot be done.

    `str(error)` says what is wrong and what to do about it. `code` is the `data.code` on the wire and the
    class's docstring its meaning. `data` holds further JSON values for programs, token counts for instance.
    Neither ever holds a credential or a path of the server's own files.
    """

    code: ClassVar[str]

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.data = data


def sentence_of(error: BaseException, otherwise: str) -> str:
    """What may be shown of an error: our own hold no secret, another's text may, and `otherwise` is shown."""
    return str(error) if isinstance(error, CoppiceError) else otherwise


class UnknownConversationError(CoppiceError):
    """No conversation has this id."""

    code = "unknown-conversation"


class UnknownEntryError(CoppiceError):
    """The conversation has no entry with this id."""

    code = "unknown-entry"


class UnknownNoteError(CoppiceError):
    """The workspace has no note with this id, or no longer."""

    code = "unknown-note"


class InvalidNoteError(CoppiceError):
    """A note is empty or too long."""

    code = "invalid-note"


class StaleLeafError(CoppiceError):
    """The conversation has changed since the client last read it."""

    code = "stale-leaf"


class IdConflictError(CoppiceError):
    """The id belongs to an entry with other content."""

    code = "id-conflict"


class NothingToCompactError(CoppiceError):
    """Too little of the conversation is old enough to be summarized."""

    code = "nothing-to-compact"


class NothingToContinueError(CoppiceError):
    """The last turn was not broken off: the model has answered, or nobody has asked."""

    code = "nothing-to-continue"


class ConversationBusyError(CoppiceError):
    """Another long job runs for the conversation: wait, or send `coppice/cancel`."""

    code = "conversation-busy"


class TooManyRequestsError(CoppiceError):
    """Too many requests of the client wait for their answers; this one was not begun."""

    code = "too-many-requests"


class NoModelError(CoppiceError):
    """The operation needs a model and none is configured."""

    code = "no-model"


class ModelFailedError(CoppiceError):
    """The model could not be reached, or gave no usable answer."""

    code = "model-failed"


class SummaryRejectedError(CoppiceError):
    """The summary is empty, cut off, or not smaller than what it replaces."""

    code = "summary-rejected"


class ContextOverflowError(CoppiceError):
    """The conversation does not fit the model's window, whatever was tried."""

    code = "context-overflow"


class WorkTooLongError(CoppiceError):
    """Facts or a summary took too long to compute; the work was ended and nothing was changed."""

    code = "work-too-long"


class OutOfMemoryError(CoppiceError):
    """The server had no memory left. Read what is there, then try again."""

    code = "out-of-memory"


class ImportFailedError(CoppiceError):
    """The file is not a session that can be read."""

    code = "import-failed"


class ImportPausedError(ImportFailedError):
    """The import paused for so long that the store gave it up; nothing of it stays, and it can begin anew."""


class StorageFailedError(CoppiceError):
    """The store could not be read or written; nothing was changed."""

    code = "storage-failed"


class ResultTooLargeError(CoppiceError):
    """The answer would be larger than an answer may be; `data.limit` is how many characters it may have."""

    code = "result-too-large"


class StoreDamagedError(StorageFailedError):
    """What was stored cannot be read back. `coppice doctor --repair` saves what is readable."""

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message, **{"damaged": True, **data})


class CancelledByHookError(CoppiceError):
    """A hook cancelled the operation; `data.hook` names it."""

    code = "cancelled-by-hook"
