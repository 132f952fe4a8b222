"""What is known of an agent whose transcripts can be followed."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from coppice.sources.transcript import Beginning, Transcript


class Watch(Protocol):
    """The transcripts of an agent, look by look. What cannot be read has none."""

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
        """What the first records say. Raises OSError where they cannot be read."""
