"""What readers make of transcripts: `PYTHONPATH=tests python tests/benchmarks/records_understood.py FOLDER…`.

Session files and agents' databases below the folders are read. Printed by format: transcripts, records, those
of which messages and the like are made, those that are ignored because they are no part of a conversation,
those of a type or form that the reader does not know, calls of tools, calls without a result, and results
without a call; and the unknown types. Copies of a transcript count once.
"""

import sys
from collections import Counter, defaultdict
from pathlib import Path

from records_counting import counts_of, transcripts

_COLUMNS = ("transcripts", "records", "used", "ignored", "unknown", "calls", "no result", "no call")


def main(folders: list[Path]) -> None:
    """Print the table, and what was not understood."""
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for name, reader, records in transcripts(folders):
        counts = counts_of(reader)
        row = (
            1,
            records,
            records - counts.ignored - counts.unknown,
            counts.ignored,
            counts.unknown,
            len(counts.calls),
            len(counts.calls - counts.results),
            len(counts.results - counts.calls),
        )
        totals[reader.format].update(dict(zip(_COLUMNS, row, strict=True)))
        if counts.unknown or counts.results - counts.calls:
            print(f"{name}: {dict(reader.unknown)} {reader.warnings}")
    print(f"| format | {' | '.join(_COLUMNS)} |\n|{'---|' * (len(_COLUMNS) + 1)}")
    for format_, total in sorted(totals.items()):
        print(f"| {format_} | {' | '.join(f'{total[each]:,}' for each in _COLUMNS)} |")


if __name__ == "__main__":
    main([Path(each) for each in sys.argv[1:]])
