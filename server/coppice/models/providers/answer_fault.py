"""What came is no answer of the protocol, or only a part of one."""

from coppice.models.chat import FailureKind


class AnswerFaultError(Exception):
    """What came is no answer of the protocol. `what` ends a sentence that begins with the server's name."""

    def __init__(self, kind: FailureKind, what: str) -> None:
        super().__init__(what)
        self.kind: FailureKind = kind
        self.what = what


class NothingStreamedError(AnswerFaultError):
    """A stream that ended before its first event."""

    def __init__(self) -> None:
        super().__init__("bad-answer", "sent an empty answer. Try again, or choose another model.")
