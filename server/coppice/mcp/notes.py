"""`note_add` and `note_list`: lasting notes of a workspace, the same as those of `coppice/note/*`."""

from coppice.mcp.project import Project
from coppice.service.notes.notebook import USER, Notebook, shown_to_model
from coppice.tree.tags import attribute


def add_note(project: Project, text: str, author: str) -> str:
    """Store a note, without the secrets in it. `author` is an agent: no note of it is the user's.

    Its name is ASCII, so that none looks like `user` in other letters. Raises InvalidNoteError.
    """
    name = attribute(author.encode("ascii", "replace").decode())
    note = _notebook(project).add(text, "agent" if name.strip().lower() == USER else name)
    return f"Noted for this project. It is shown by note_list and found by history_search (id {note.id})."


def list_notes(project: Project) -> str:
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
