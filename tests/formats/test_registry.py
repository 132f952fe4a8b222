"""The registry of formats: what a name promises, its module does."""

from importlib import import_module
from typing import get_args

import pytest

from coppice.formats.registry import (
    EXPORT_NAMES,
    FORMATS,
    IMPORT_NAMES,
    Format,
    format_named,
    format_of_file_name,
)
from coppice.protocol.conversations import ExportParams, ImportParams


@pytest.mark.parametrize("format_", FORMATS, ids=lambda format_: format_.name)
def test_a_module_does_what_its_line_in_the_registry_promises(format_: Format) -> None:
    module = import_module(format_.module)
    assert hasattr(module, "recognize") == format_.reads
    assert hasattr(module, "Reader") == (format_.reads or format_.database)
    assert hasattr(module, "write") == format_.writes
    assert format_named(format_.name) is format_


def test_requests_take_the_names_of_the_registry() -> None:
    assert get_args(ImportParams.model_fields["format"].annotation) == IMPORT_NAMES
    assert get_args(ExportParams.model_fields["format"].annotation) == EXPORT_NAMES


@pytest.mark.parametrize(
    ("name", "format_"),
    [("notes.MD", "markdown"), ("s.pi.jsonl", "pi"), ("s.jsonl", None), ("md", None)],
)
def test_a_files_name_chooses_the_format_it_is_written_in(name: str, format_: str | None) -> None:
    assert format_of_file_name(name) == format_
