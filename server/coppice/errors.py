"""Every refusal Coppice knows: a sentence for a person, a code for a program."""

from typing import Any, ClassVar


class CoppiceError(Exception):
    """A well-formed request that cannot be done.

    `str(error)` says what is wrong and what to do about it. `code` names the case (the `data.code` of
    docs/protocol.md); `data` holds further JSON values for programs, token counts for instance. Neither
    ever holds a credential or a path of the server's own files.
    """

    code: ClassVar[str]

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.data = data


class UnknownConversationError(CoppiceError):
    code = "unknown-conversation"


class UnknownEntryError(CoppiceError):
    code = "unknown-entry"


class StaleLeafError(CoppiceError):
    """The conversation moved on since the caller last looked."""

    code = "stale-leaf"


class IdConflictError(CoppiceError):
    """An id that is taken by other content."""

    code = "id-conflict"


class NothingToCompactError(CoppiceError):
    code = "nothing-to-compact"


class ConversationBusyError(CoppiceError):
    code = "conversation-busy"


class NoModelError(CoppiceError):
    code = "no-model"


class ModelFailedError(CoppiceError):
    code = "model-failed"


class SummaryRejectedError(CoppiceError):
    """A summary that would make things worse: empty, cut off, or not smaller than what it replaces."""

    code = "summary-rejected"


class ContextOverflowError(CoppiceError):
    code = "context-overflow"


class ImportFailedError(CoppiceError):
    code = "import-failed"


class StorageFailedError(CoppiceError):
    code = "storage-failed"


class CancelledByHookError(CoppiceError):
    code = "cancelled-by-hook"
