"""Repairs a damaged store together with the one that was used in its place."""

from coppice.service.conversations.store_copying import Place, StoreCopy
from coppice.service.core.progress import NoProgress
from coppice.store.engines.choosing import sqlite_path
from coppice.store.repair.copying import Repair, is_in_use, repair
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
    """Takes in what was stored while the store could not be used: numbers of conversations and of entries.

    Nothing where there is no such file, or a server has it open.

    Raises:
        StorageFailedError: one of the two stores cannot be used.
    """
    spare = sqlite_path(spare_database(url))
    if spare is None or not spare.exists() or is_in_use(spare):
        return 0, 0
    copied = list(StoreCopy(Place(url=spare_database(url)), Place(url=url)).run(NoProgress()))
    spare.rename(spare.with_name(f"{spare.name}.merged"))
    return len(copied), sum(each.entry_count for each in copied)
