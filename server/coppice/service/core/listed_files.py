"""The files of a path as an answer lists them, which has a bound; `coppice/files` gives all, in pages."""

from dataclasses import dataclass
from typing import Final, Self

from coppice.store.tree.paging import fitting

MOST_FILES: Final = 1_000
"""Paths of a list, as many as a `file_activity` entry has at most. A person looks at the first dozens."""


@dataclass(frozen=True, slots=True)
class ListedFiles:
    """The first paths of each list, in their order, and how many further ones there are in all."""

    read: list[str]
    modified: list[str]
    deleted: list[str]
    left_out: int

    @classmethod
    def of(cls, read: list[str], modified: list[str], deleted: list[str]) -> Self:
        """What is listed of the files of a ledger."""
        all_files = read, modified, deleted
        listed = [first_files(paths) for paths in all_files]
        return cls(listed[0], listed[1], listed[2], sum(map(len, all_files)) - sum(map(len, listed)))


def first_files(paths: list[str]) -> list[str]:
    """As many of `paths` as are listed."""
    first = paths[:MOST_FILES]
    return first[: fitting(map(len, first))]
