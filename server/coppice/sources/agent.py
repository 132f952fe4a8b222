"""What is known of an agent whose transcripts can be followed, and of a transcript."""

import os.path
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from coppice.formats.lines import Places
from coppice.formats.source import OnRead


@dataclass(frozen=True, slots=True)
class Transcript:
    """`agent` and `key` identify it: `key` is the agent's own id of the session, or with `id_in_header` the
    name of its file.

    `stamp` changes whenever the transcript does. `size` is in bytes; `modified` in seconds since 1970.
    `parent` is the key of the session that started it, as far as its place tells.
    `part` is what identifies it within a file of several, `places` are the lines that can be of it, where
    they were looked for; `cwd` is the folder of such a session.
    """

    agent: str
    key: str
    path: str
    stamp: str
    size: int
    modified: float
    parent: str | None = None
    part: str | None = None
    cwd: str | None = None
    places: Places | None = None
    id_in_header: bool = False

    @property
    def name(self) -> str:
        """The file's name."""
        return os.path.basename(self.path)  # noqa: PTH119 - there are thousands, and a Path costs more

    @property
    def conversation_id(self) -> str:
        """The id of the stored conversation: the same on each machine and for each reading."""
        return conversation_id_of(self.agent, self.key)


@dataclass(frozen=True, slots=True)
class Beginning:
    """What the first records of a transcript say: the folder, and the key of the session that started it."""

    cwd: str | None
    parent: str | None = None


def conversation_id_of(agent: str, key: str) -> str:
    """The id under which a session of an agent is stored."""
    return blake2b(f"{agent}:{key}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class Watch(Protocol):
    """The transcripts of an agent, look by look. What cannot be read has none."""

    @property
    def unlisted(self) -> Mapping[str, str]:
        """Files whose sessions the last look could not list, and why."""

    def changed(self) -> Iterator[Transcript]:
        """At first all that there are; then those that are new or have changed."""

    def ignore(self, transcript: Transcript) -> None:
        """Need not look at it again."""


class Agent(Protocol):
    """`name` is what settings call it, `title` what a person reads, `format` what reads its transcripts."""

    @property
    def name(self) -> str:
        """What settings and commands call it."""

    @property
    def title(self) -> str:
        """What a person reads."""

    @property
    def format(self) -> str:
        """The format of its transcripts, by name."""

    def root(self, environ: Mapping[str, str], folder: str | None = None) -> Path:
        """The agent's folder; `folder` is that of the user's settings."""

    def watch(self, root: Path) -> Watch:
        """Looks at the transcripts in the agent's folder."""

    def may_be_of(self, transcript: Transcript, folder: str) -> bool:
        """False where the place of a transcript shows that its session did not begin in `folder`."""

    def beginning(self, transcript: Transcript) -> Beginning:
        """What the first records say. Raises ImportFailedError where they cannot be read."""

    def parts(self, transcript: Transcript, on_read: OnRead) -> Iterable[Transcript]:
        """The sub-agents that write into the transcript of a session; the key of each is `SESSION/ID`. The
        file is read once, and each of its lines is of one of them at most.

        Raises ImportFailedError where it cannot be read.
        """
