"""What a client reports about files, in whichever of the notifications of LSP it did."""

from dataclasses import dataclass

from coppice.tree.entries import FileChangeKind, FileSource


@dataclass(frozen=True, slots=True)
class FileEvent:
    """What happened to the file at `uri`. `from_uri` is where a renamed one was."""

    uri: str
    kind: FileChangeKind
    source: FileSource
    from_uri: str | None = None
