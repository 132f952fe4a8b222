"""JSON lines as they are found: torn, rotten, written by other programs.

Every line that holds a JSON object is read; anything else is skipped or repaired with a warning.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from typing import Any, BinaryIO, Final

from coppice.formats.warning_log import WarningLog
from coppice.tree.nesting import MAX_DEPTH, nests_deeper

MAX_LINE_BYTES: Final = 32 * 2**20
"""Longer lines are skipped: no provider takes a request of that size, so no message was that long."""

Places = Sequence[tuple[int, int]]
"""Lines of a file, each with its number from 1 and the offset of its first byte, in their order."""

BOM: Final = b"\xef\xbb\xbf"

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SUSPECT: Final = re.compile(r"\\u[dD][89a-fA-F]|NaN|Infinity|[eE]\+?[0-9]{3}|[0-9]{300}")


@dataclass(frozen=True, slots=True)
class ParsedLine:
    """A line that holds a JSON object, of `size` bytes. What is `too_deep` cannot be stored as it is.

    `number` counts from 1, `offset` is the position of its first byte.
    """

    number: int
    offset: int
    value: dict[str, Any]
    size: int
    too_deep: bool


class UnusableLineError(ValueError):
    """A line that holds no JSON object. `str(error)` completes the sentence "this line …"."""


def raw_lines(file: BufferedReader, log: WarningLog, first: int = 1) -> Iterator[tuple[int, int, bytes]]:
    """The number, the offset and the bytes of each line of `file` that is not blank or too long. `file` is at
    the beginning of its line number `first`.
    """
    number, offset, seen_crlf = first - 1, file.tell(), False
    while raw := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        start, length = offset, len(raw)
        too_long = length > MAX_LINE_BYTES and not raw.endswith(b"\n")
        if too_long:
            length += _skip_rest(file)
            log.add(number, "too long", f"this line is longer than {MAX_LINE_BYTES:,} bytes and was left out")
        offset += length
        if too_long:
            continue
        if number == 1 and raw.startswith(BOM):
            log.add(1, "byte order mark", "the file begins with a byte order mark, which was ignored")
            raw, start = raw[len(BOM) :], start + len(BOM)
        if not seen_crlf and raw.endswith(b"\r\n"):
            seen_crlf = True
            log.add(
                number, "line ends", "from here on lines end as on Windows (CRLF); read as plain line ends"
            )
        if raw.strip():
            yield number, start, raw
        else:
            blank = _blank_lines(file)
            number, offset = number + blank.count(b"\n"), offset + len(blank)


def read_objects(
    file: BufferedReader, log: WarningLog, first: int = 1, *, places: Places | None = None
) -> Iterator[ParsedLine]:
    """The JSON objects of `file`, one a line, or only those at `places`. `file` is at the beginning of its
    line number `first`.
    """
    lines = raw_lines(file, log, first) if places is None else _lines_at(file, places)
    for number, offset, raw in lines:
        data = raw.strip()
        try:
            value, mended = parse_object(data)
        except UnusableLineError as error:
            if raw.endswith(b"\n"):
                log.add(number, "not a JSON object", f"this line {error} and was left out")
            else:
                log.add(number, "torn", "the file ends in the middle of this line, which was left out")
            continue
        for what in mended:
            log.add(number, what, what)
        brackets = data.count(b"[") + data.count(b"{")
        yield ParsedLine(number, offset, value, len(data), brackets > MAX_DEPTH and nests_deeper(value))


def _lines_at(file: BufferedReader, places: Places) -> Iterator[tuple[int, int, bytes]]:
    for number, offset in places:
        file.seek(offset)
        yield number, offset, file.readline(MAX_LINE_BYTES)


def text_at(value: dict[str, Any], key: str) -> str | None:
    """The text under `key`; None where there is none or something else."""
    text = value.get(key)
    return text if isinstance(text, str) else None


def object_at(value: object, key: str) -> dict[str, Any]:
    """The object under `key`; empty where there is none or something else."""
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def objects_at(value: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects in the array under `key`; none where there is no array, or nothing but something else."""
    inner = value.get(key)
    return [each for each in inner if isinstance(each, dict)] if isinstance(inner, list) else []


def type_of(value: dict[str, Any]) -> str | None:
    """The object's `type`; None where that is absent or no text."""
    return text_at(value, "type")


def read_object_at(file: BinaryIO, offset: int) -> dict[str, Any]:
    """The object of the line that begins at `offset`. Raises UnusableLineError when there is none."""
    return parse_object(_bytes_at(file, offset))[0]


def read_text_at(file: BinaryIO, offset: int) -> str:
    """The line that begins at `offset`, undecoded but for replaced bytes."""
    return _bytes_at(file, offset).decode("utf-8", errors="replace")


def _bytes_at(file: BinaryIO, offset: int) -> bytes:
    file.seek(offset)
    return file.readline(MAX_LINE_BYTES + 2).strip()


def parse_object(data: bytes) -> tuple[dict[str, Any], list[str]]:
    """A line's object, and what was mended in it. Raises UnusableLineError when it holds none."""
    mended: list[str] = []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", errors="replace")
        mended.append("bytes that are not UTF-8 were replaced by U+FFFD")
    try:
        # An array is not parsed first: of empty objects, a long one takes a gigabyte.
        value = None if text.lstrip().startswith("[") else _loaded(text, mended)
        if not isinstance(value, dict):
            raise UnusableLineError("holds no JSON object")
        if _SUSPECT.search(text):
            value = _cleaned(value, mended)
    except RecursionError as error:
        raise UnusableLineError("is nested too deep") from error
    return value, list(dict.fromkeys(mended))


def value_of(text: str) -> Any:
    """What JSON says, mended as in a line. Raises ValueError, and RecursionError where it nests too deep."""
    value = _loaded(text, [])
    return _cleaned(value, []) if _SUSPECT.search(text) else value


def dump_line(value: dict[str, Any]) -> str:
    """One line of JSON with its newline. What JSON or UTF-8 cannot hold is mended as on reading."""
    try:
        text = _compact_json(value)
        text.encode("utf-8")
    except ValueError:
        text = _compact_json(_cleaned(value, []))
    return text + "\n"


def _compact_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _blank_lines(file: BufferedReader) -> bytes:
    """The blank lines that follow, as far as they are in the buffer; `file` is after them then."""
    buffered = file.peek()
    end = len(buffered) - len(buffered.lstrip(b"\r\n"))
    return file.read(buffered.rfind(b"\n", 0, end) + 1)


def _skip_rest(file: BinaryIO) -> int:
    skipped = 0
    while chunk := file.readline(2**20):
        skipped += len(chunk)
        if chunk.endswith(b"\n"):
            break
    return skipped


def _loaded(text: str, mended: list[str]) -> Any:
    try:
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            raise
        except ValueError:
            mended.append("a number of thousands of digits became null")
            return json.loads(text, parse_int=_int_or_none)
    except json.JSONDecodeError as error:
        raise UnusableLineError(f"is not JSON ({error.msg} at column {error.colno})") from error


def _int_or_none(digits: str) -> int | None:
    try:
        return int(digits)
    except ValueError:
        return None


def _cleaned(value: Any, mended: list[str]) -> Any:
    match value:
        case dict():
            return {_cleaned(key, mended): _cleaned(item, mended) for key, item in value.items()}
        case list():
            return [_cleaned(item, mended) for item in value]
        case float() if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN
            mended.append("NaN or Infinity, which JSON does not have, became null")
            return None
        case str() if _LONE_SURROGATE.search(value):
            mended.append("half of a surrogate pair was replaced by U+FFFD")
            return _LONE_SURROGATE.sub("\ufffd", value)
        case _:
            return value
