"""`coppice mcp` that waits a second for a store that another program holds, not ten."""

import sys
from functools import partial

from coppice.mcp.__main__ import main
from coppice.store.store import Store

if __name__ == "__main__":
    Store.open = partial(Store.open, busy_seconds=1.0)  # type: ignore[method-assign]
    raise SystemExit(main(sys.argv[1:]))
