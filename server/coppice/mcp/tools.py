"""Runs the calls of the five tools. Notes are the same as those of `coppice/note/*`."""

import logging
import threading
from collections.abc import Callable
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from coppice.errors import CoppiceError
from coppice.mcp.arguments import (
    NoArguments,
    NoteArguments,
    OverviewArguments,
    ReadArguments,
    SearchArguments,
)
from coppice.mcp.options import Options
from coppice.mcp.overview import overview
from coppice.mcp.project import Project
from coppice.mcp.reading import read_history
from coppice.mcp.searching import search_history
from coppice.protocol.base import problems_of
from coppice.service.notes.notebook import Notebook, agent_author, shown_to_model

_Run = Callable[[Project, Any, str], str]
_LOG: Final = logging.getLogger(__name__)

_TOOLS: Final[dict[str, tuple[type[BaseModel], _Run]]] = {
    "history_search": (SearchArguments, lambda project, given, _: search_history(project, given)),
    "history_read": (ReadArguments, lambda project, given, _: read_history(project, given)),
    "history_overview": (OverviewArguments, lambda project, given, _: overview(project, given)),
    "note_add": (NoteArguments, lambda project, given, author: _add_note(project, given.text, author)),
    "note_list": (NoArguments, lambda project, *_: _list_notes(project)),
}


_FOLLOWED: Final = frozenset({"history_search", "history_read", "history_overview"})
"""The tools that read conversations, and need what agents have written since."""


class HistoryTools:
    """The tools over the stored conversations of one workspace. Thread-safe."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._lock = threading.Lock()
        self._project: Project | None = None

    def call(self, name: str, arguments: dict[str, Any], author: str) -> tuple[str, bool]:
        """The text of a result, and whether it is a failure. Raises nothing.

        `author` is who calls, as what the client calls itself.
        """
        schema, run = _TOOLS[name]
        try:
            given = {name: value for name, value in arguments.items() if value is not None}
            return self._result(name, run, schema.model_validate(given), author), False
        except ValidationError as error:
            return f"The arguments do not fit: {problems_of(error)}.", True
        except CoppiceError as error:
            return str(error), True
        except Exception as error:  # noqa: BLE001 - a client gets an answer to everything it asks
            _LOG.error("%s failed (%s)", name, type(error).__name__)
            return f"An unforeseen error ({type(error).__name__}); please report it with the call.", True

    def _result(self, name: str, run: _Run, wanted: BaseModel, author: str) -> str:
        with self._lock:
            project = self._project = self._project or Project(self._options)
        problem = project.transcripts.update() if name in _FOLLOWED else None
        text = run(project, wanted, author)
        return text if problem is None else f"{text}\n({problem})"


def _add_note(project: Project, text: str, author: str) -> str:
    """Store a note, without the secrets in it. `author` is an agent's name. Raises InvalidNoteError."""
    note = _notebook(project).add(text, agent_author(author))
    return f"Noted for this project. It is shown by note_list and found by history_search (id {note.id})."


def _list_notes(project: Project) -> str:
    """The user's notes and the newest of agents, oldest first, each with its author and date."""
    notes = _notebook(project).notes()
    if not notes:
        return "This project has no notes yet. note_add adds one."
    lines = shown_to_model(notes)
    if len(lines) < len(notes):
        lines.insert(
            0, f"{len(lines)} of {len(notes)} notes, the user's first; history_search finds the others."
        )
    return "\n".join(lines)


def _notebook(project: Project) -> Notebook:
    return Notebook(project.store, project.workspace)
