"""Reads the session file named as its argument and prints how the peak of its memory grew, in bytes."""

import resource
import sys
from pathlib import Path

from coppice.formats.reading import open_session


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    before = peak()
    entries = sum(1 for _ in open_session(Path(sys.argv[1])))
    print(entries, peak() - before)


if __name__ == "__main__":
    main()
