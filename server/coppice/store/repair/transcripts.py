"""Repairs the record of what was read of transcripts."""

import tempfile
from pathlib import Path

from coppice.store.repair.copying import hold, install, put_aside
from coppice.store.schema.errors import translated
from coppice.store.transcript_catalog import FILE_NAME, Reading, TranscriptCatalog, readable


def repair_transcripts(directory: Path) -> tuple[list[Reading], Path]:
    """Makes the record anew of the readings that can be read: those, and where the damaged file is now.

    Raises StorageFailedError where another program has it open, or the disk failed; nothing is changed then.
    """
    path = directory / FILE_NAME
    prefix = f".repair-{FILE_NAME}-"
    with translated(), tempfile.TemporaryDirectory(prefix=prefix, dir=directory) as folder:
        made = TranscriptCatalog(Path(folder))
        made.make()
        with hold(path) as held:
            readings = [] if held is None else readable(held)
            made.put(readings)
            aside = put_aside(path, held)
        install(Path(folder) / FILE_NAME, path, aside)
    return readings, aside
