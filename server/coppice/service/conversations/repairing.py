"""Repairs a damaged store together with the one that was used in its place."""

from coppice.service.conversations.store_copying import Place, StoreCopy
from coppice.service.core.jobs import NoProgress
from coppice.store.engines import sqlite_path
from coppice.store.location import spare_database
from coppice.store.repair import Repair, is_in_use, repair


def repair_workspace(url: str) -> Repair:
    """Repairs a damaged store, and takes in the conversations that were made meanwhile.

    Raises:
        StorageFailedError: as for `repair`.
    """
    done = repair(url)
    spare = sqlite_path(spare_database(url))
    if spare is None or not spare.exists() or is_in_use(spare):
        return done
    copied = list(StoreCopy(Place(url=spare_database(url)), Place(url=url)).run(NoProgress()))
    done.conversations += len(copied)
    done.entries += sum(each.entry_count for each in copied)
    spare.rename(spare.with_name(f"{spare.name}.merged"))
    return done
