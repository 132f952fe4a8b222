"""Writes a session in any of the formats that have a writer."""

from collections.abc import Iterable, Iterator
from typing import Literal

from coppice.formats.coppice import export_coppice
from coppice.formats.markdown import export_markdown
from coppice.formats.pi import export_pi
from coppice.formats.session import SessionHeader
from coppice.tree.entries import Entry

ExportFormat = Literal["coppice", "pi", "markdown"]


def write_session(
    header: SessionHeader, entries: Iterable[Entry], format_: ExportFormat, *, leaf_id: str | None = None
) -> Iterator[str]:
    """The text of a session in pieces, as `entries` come; nothing is held back but the leaf's line.

    Markdown shows one path: give it the path's entries, root first. The other formats take the whole tree,
    parents before children.
    """
    match format_:
        case "coppice":
            return export_coppice(header, entries, leaf_id=leaf_id)
        case "pi":
            return export_pi(header, entries, leaf_id=leaf_id)
        case "markdown":
            return export_markdown(header, entries)
