"""A process that appends to a store until it is killed, or a given number of times.

`python -m store.appending_child URL CONVERSATION SERVER COUNT` appends COUNT pairs of entries.
`python -m store.appending_child URL CONVERSATION kill COUNT` forks COUNT children, one after the other, and
kills each with SIGKILL while it appends. Either way each acknowledged id is printed on a line.
"""

import os
import random
import select
import signal
import sys
import time
from itertools import count

from store.store_kit import NOW, activity, assistant, compaction, user

from coppice.store.store import Store


def append_pairs(url: str, conversation: str, server_id: str, pairs: int) -> None:
    store = Store.open(url, server_id=server_id)
    for number in range(pairs):
        call = [user(entry_id=f"{server_id}-{number}-a"), assistant(entry_id=f"{server_id}-{number}-b")]
        done = store.append(conversation, call, modified_at=NOW)
        print(*done.entry_ids, sep="\n", flush=True)
    store.close()


def append_until_killed(url: str, conversation: str, server_id: str, acknowledgements: int) -> None:
    store = Store.open(url, server_id=server_id)
    for number in count():
        name = f"{server_id}-{number}"
        call = [user("x" * 5000, f"{name}-a"), activity("a.py", f"{name}-f"), user(entry_id=f"{name}-b")]
        if number % 5 == 4:
            call.append(compaction(f"{name}-a", f"{name}-c"))
        done = store.append(conversation, call, modified_at=NOW)
        os.write(acknowledgements, "".join(f"{entry_id}\n" for entry_id in done.entry_ids).encode())


def kill_children(url: str, conversation: str, kills: int) -> None:
    chance = random.Random(kills)
    for number in range(kills):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            append_until_killed(url, conversation, f"k{number}", writer)
        os.close(writer)
        if number % 2:
            # Half of them have stored something; the others may not even have opened the store.
            select.select([reader], [], [], 100)
        time.sleep(chance.uniform(0.01, 0.12))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(reader, "rb") as acknowledged:
            # Each call is acknowledged by one write, so that a line is never torn.
            sys.stdout.write(acknowledged.read().decode())


if __name__ == "__main__":
    _, its_url, its_conversation, who, how_many = sys.argv
    if who == "kill":
        kill_children(its_url, its_conversation, int(how_many))
    else:
        append_pairs(its_url, its_conversation, who, int(how_many))
