"""Whether a line is of a format is asked of every object, whatever its properties are."""

from itertools import product
from typing import Any

import pytest

from coppice.formats.registry import FORMATS, Format

NAMES = (
    "type",
    "role",
    "version",
    "id",
    "uuid",
    "sessionId",
    "message",
    "payload",
    "data",
    "kind",
    "content",
)
VALUES: tuple[Any, ...] = (
    None,
    [],
    {},
    [1],
    {"type": []},
    {"role": {}},
    5,
    True,
    "",
    "user",
    "session",
    "x" * 99,
)


@pytest.mark.parametrize("format_", [each for each in FORMATS if each.reads], ids=lambda each: each.name)
def test_a_line_is_of_the_format_or_not(format_: Format) -> None:
    for first, second in product(product(NAMES, VALUES), repeat=2):
        assert format_.recognizes(dict([first, second])) in (True, False)
