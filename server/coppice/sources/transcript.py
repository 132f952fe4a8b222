"""A transcript of another agent, as far as it is seen without reading it."""

import os.path
from dataclasses import dataclass
from hashlib import blake2b


@dataclass(frozen=True, slots=True)
class Transcript:
    """`agent` and `key` identify it: `key` is the agent's own id of the session.

    `stamp` changes whenever the transcript does. `size` is in bytes; `modified` in seconds since 1970.
    `parent` is the key of the session that started it, as far as its place tells.
    `part` is what identifies it within a file of several.
    """

    agent: str
    key: str
    path: str
    stamp: str
    size: int
    modified: float
    parent: str | None = None
    part: str | None = None

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
