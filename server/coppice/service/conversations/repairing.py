"""Repairs a damaged store together with the one that was used in its place."""

from coppice.service.conversations.store_copying import Place, StoreCopy
from coppice.service.core.progress import NoProgress
from coppice.store.engines.choosing import sqlite_path
from coppice.store.repair.copying import Repair, is_in_use, repair, repaired_beside
from coppice.store.tree.location import spare_database


def repair_workspace(url: str) -> Repair:
    """Repairs a damaged store, and takes in the conversations that were made meanwhile.

    Raises:
        StorageFailedError: as for `repair`.
    """
    done = repair(url)
    conversations, entries = join_spare(url)
    done.conversations += conversations
    done.entries += entries
    return done


def join_spare(url: str) -> tuple[int, int]:
    """Takes in what was stored while the store could not be used, and what a repair saved that was killed:
    numbers of conversations and of entries.

    Nothing where there is no such file, or a server has it open.

    Raises:
        StorageFailedError: one of the stores cannot be used.
    """
    path, spare = sqlite_path(url), sqlite_path(spare_database(url))
    conversations = entries = 0
    for other in [*([spare] if spare else []), *(repaired_beside(path) if path else [])]:
        if other.exists() and not is_in_use(other):
            copied = list(StoreCopy(Place(url=f"sqlite:///{other}"), Place(url=url)).run(NoProgress()))
            other.rename(other.with_name(f"{other.name}.merged"))
            conversations += len(copied)
            entries += sum(each.entry_count for each in copied)
    return conversations, entries
