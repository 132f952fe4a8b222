"""How facts read in a summary, line by line, and back again for the next one."""

import re
from collections.abc import Sequence
from typing import Final

from coppice.compaction.facts.errors import OpenError
from coppice.compaction.facts.identifiers import Kind
from coppice.compaction.facts.progress import FileWork
from coppice.compaction.facts.ranking import RankedIdentifier
from coppice.compaction.facts.sentences import clip, one_line

_NAMES_SHOWN: Final = 5
_VERBS: Final = ("created", "written", "edited", "renamed", "deleted")
_VERB_PATTERN: Final = rf"(?:{'|'.join(_VERBS)})(?: ×\d+)?"
_FILE_LINE: Final = re.compile(rf"(\S{{1,400}}): ({_VERB_PATTERN}(?:, {_VERB_PATTERN})*)(?: \(([^()]*)\))?$")
_VERB: Final = re.compile(rf"({'|'.join(_VERBS)})(?: ×(\d+))?")
THEN: Final = "Then: "
NOW: Final = "Now: "
ALSO_CHANGED: Final = "Also changed: "
COMMANDS: Final = "Commands that worked: "
_LABELS: Final = {
    "Paths": (Kind.PATH,),
    "Types and modules": (Kind.TYPE,),
    "Names": (Kind.NAME, Kind.VARIABLE),
    "Ids": (Kind.ID, Kind.COMPOUND, Kind.HASH),
    "Links": (Kind.ADDRESS,),
    "Flags and values": (Kind.FLAG, Kind.VALUE),
}
_ERROR_LINE: Final = re.compile(r"`(.{1,400}?)` failed: ")


def file_line(work: FileWork, *, names: bool = True) -> str:
    """`path: written, edited ×3 (definition, definition)`."""
    verbs = ", ".join(
        f"{verb} ×{work.verbs[verb]}" if work.verbs[verb] > 1 else verb
        for verb in _VERBS
        if verb in work.verbs
    )
    shown = list(work.names)[-_NAMES_SHOWN:] if names else []
    return f"{one_line(work.path)}: {verbs}" + (f" ({', '.join(shown)})" if shown else "")


def parse_file_line(line: str) -> FileWork | None:
    """The work that `file_line` told; None for another line."""
    match = _FILE_LINE.match(line)
    if match is None:
        return None
    work = FileWork(match[1])
    for verb in _VERB.finditer(match[2]):
        work.note(verb[1], int(verb[2] or 1))
    work.names.update(dict.fromkeys(match[3].split(", ") if match[3] else ()))
    return work


def error_line_of(error: OpenError) -> str:
    return f"`{error.what}` failed: {error.error}"


def command_in_error_line(line: str) -> str | None:
    match = _ERROR_LINE.match(line)
    return match[1] if match else None


def commands_line(commands: Sequence[str]) -> str:
    return COMMANDS + "; ".join(f"`{command}`" for command in commands)


def parse_commands_line(line: str) -> list[str]:
    listed = line.removeprefix(COMMANDS)
    return [command.strip().strip("`") for command in listed.split("; ") if command.strip("` ")]


def index_lines(chosen: Sequence[RankedIdentifier]) -> list[str]:
    """The identifiers by kind, the most useful first, each exactly as it was written."""
    lines = []
    for label, kinds in _LABELS.items():
        found = sorted((item for item in chosen if item.kind in kinds), key=lambda item: -item.weight)
        texts = [item.text for item in found]
        if texts:
            lines.append(f"{label}: {' '.join(texts)}")
    return lines


def is_index_line(line: str) -> bool:
    return any(line.startswith(f"{label}: ") for label in _LABELS)


def note_line(heading: str, lines: Sequence[str], limit: int) -> str:
    """What stood under a heading that the format does not have, on one line."""
    text = "; ".join(lines)
    return clip(f"{heading}: {text}" if heading else text, limit)
