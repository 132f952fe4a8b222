"""Of the recorded sessions every record is understood or counted, and each call has its result."""

from pathlib import Path

from records_counting import counts_of, transcripts
from shared_data import shared_data

MOST_UNKNOWN = 0.001  # of the records


def test_recorded_sessions_are_understood() -> None:
    formats = set()
    for name, reader, records in transcripts([shared_data()]):
        counts = counts_of(reader)
        formats.add(reader.format)
        assert counts.unknown <= MOST_UNKNOWN * records, (name, reader.warnings)
        assert not counts.results - counts.calls, name
        lines = Path(name).read_text(encoding="utf-8").splitlines()
        for call in counts.calls - counts.results:
            assert sum(call in line for line in lines) == 1, f"{call} of {name} has a result in the file"
    assert formats >= {"claude-code", "codex", "pi"}
