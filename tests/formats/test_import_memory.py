"""Memory holds the ids of a session, never its contents."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from session_samples import HEADER, Json, message_record, prompt
from systems import needs_peaks

FILE_BYTES = 50 * 2**20
PEAK_BYTES = 12 * 2**20
READER = Path(__file__).with_name("import_peak.py")
WORDS = "The settings of the old file are read, checked and written to the new one. " * 50


def pi_entry(number: int) -> Json:
    return message_record(f"{number:08x}", f"{number - 1:08x}" if number else None, WORDS)


def claude_record(number: int) -> Json:
    uuid = f"00000000-0000-4000-8000-{number:012x}"
    parent = f"00000000-0000-4000-8000-{number - 1:012x}" if number else None
    return prompt(uuid, parent, WORDS)


@needs_peaks
@pytest.mark.parametrize(("header", "line"), [(HEADER, pi_entry), (None, claude_record)])
def test_a_file_of_50_megabytes_is_read_in_12(
    tmp_path: Path, header: Json | None, line: Callable[[int], Json]
) -> None:
    file = tmp_path / "big.jsonl"
    count = 0
    with file.open("w", encoding="utf-8") as out:
        if header is not None:
            out.write(json.dumps(header) + "\n")
        while out.tell() < FILE_BYTES:
            out.write(json.dumps(line(count)) + "\n")
            count += 1
    done = subprocess.run(
        [sys.executable, str(READER), str(file)], capture_output=True, check=True, text=True
    )
    entries, grown = map(int, done.stdout.split())
    assert entries == count
    assert grown < PEAK_BYTES
