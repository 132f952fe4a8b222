"""Reads a structured summary from any text, whoever wrote it."""

import re
from collections.abc import Iterator
from typing import Final

from coppice.compaction.summary import HEADINGS, NOTHING, SPLIT_TURN_HEADING, Summary, SummaryDecision, plain
from coppice.compaction.text.markdown import FENCE, HEADING, ITEM
from coppice.compaction.text.sentences import ELISION, one_line

_LONGEST_HEADING: Final = 200  # characters; the longest of 126 recorded ones has 167
_NUMBERED_HEADING: Final = re.compile(r"(?:\d{1,2}[.)]\s+)?\**([A-Z][A-Za-z ,/&()'’-]{2,60}?)\**:\**")
_FILE_TAGS: Final = ("read-files", "modified-files")
_LOOSE_TAG: Final = re.compile(r"</?(?:summary|previous-summary|analysis|read-files|modified-files)>")
_PREPARED: Final = re.compile(r"\s*(?:#{1,6} )?\**(?:(Analysis:?|<analysis>)|Summary:?|<summary>)\**\s*")
"""What opens a summary, or in the group an analysis before it."""
_DECISION: Final = re.compile(r"\*\*(.{1,2000}?)\*\*(?::\s*(.*))?$")
LEAST_HEADINGS: Final = 2  # of ours in a summary; of 3,979 recorded messages two have one, none has two
_MOST_CHARS: Final = 400_000  # characters of a summary that are parsed, prose in 50 ms
_ALIASES: Final = (
    ("constraint", "constraints"),
    ("preference", "constraints"),
    ("user constraint", "constraints"),
    ("in progress", "in_progress"),
    ("current work", "in_progress"),
    ("current task", "in_progress"),
    ("blocked", "blocked"),
    ("blocker", "blocked"),
    ("done", "done"),
    ("completed", "done"),
    ("next step", "next_steps"),
    ("optional next step", "next_steps"),
    ("pending task", "next_steps"),
    ("remaining", "next_steps"),
    ("key decision", "decisions"),
    ("decision", "decisions"),
    ("critical context", "context"),
    ("goal", "goal"),
    ("primary request", "goal"),
    ("objective", "goal"),
    ("progress", "progress"),
)


def parse_summary(text: str) -> Summary:
    """The summary in `text`, whoever wrote it. Nothing but blank lines, markers and blocks is lost.

    Our own format comes back as it was; headings of other programs are mapped to ours where they mean the
    same, and kept under `other` where they do not. File blocks are taken off, and what a model wrote before
    its summary; headings in fenced code are text.
    """
    return _Parser().parse(_without_preparation(without_file_blocks(text[:_MOST_CHARS])))


def missing_headings(text: str) -> list[str]:
    """The headings of the format that `text` lacks, as they should be written."""
    present = {line.strip() for line, fenced in _lines(text) if not fenced}
    return [heading for heading in HEADINGS if heading not in present]


def is_foreign(text: str) -> bool:
    """Whether a summary has other headings than ours, or none, so that it can only be quoted."""
    return bool(text.strip()) and len(missing_headings(text)) > len(HEADINGS) - LEAST_HEADINGS


def recorded_lines(text: str, *, overtaken: bool) -> Iterator[str]:
    """The lines of a summary as it was written, without what a program wrote before it, and with marks for
    code and, of one that is `overtaken`, for the work under way and the next steps after it; a heading of
    other next steps says that they are of then.
    """
    left_out = marked = is_next = False
    for line, fenced in _lines(_without_preparation(text)):
        words = _NUMBERED_HEADING.fullmatch(line.rstrip())
        if name := _heading_in(line) or (words[1] if words else ""):
            section = _section_of(name)
            is_next = section == "next_steps"
            left_out = overtaken and (section == "in_progress" or (left_out and is_next))
        if not fenced and not left_out:
            is_heading = overtaken and name and is_next
            yield f"{line.rstrip().removesuffix(':')} (then):" if is_heading else line
        elif not marked:
            yield ELISION
        marked = fenced or left_out


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    fenced = False
    for line in text.splitlines():
        if FENCE.match(line):
            fenced = not fenced
            continue
        yield line, fenced


def without_file_blocks(text: str) -> str:
    """`text` without the blocks of file lists. Linear in its length."""
    for tag in _FILE_TAGS:
        parts, opened = [], text.find(f"<{tag}>")
        while opened >= 0 and (closed := text.find(f"</{tag}>", opened)) >= 0:
            parts.append(text[:opened])
            text = text[closed + len(tag) + 3 :]
            opened = text.find(f"<{tag}>")
        text = "".join([*parts, text])
    return text


def _without_preparation(text: str) -> str:
    """`text` without an introduction and an analysis that precede a line `Summary:` or `<summary>`.

    Prompts for summaries often ask for an analysis first (Claude Code's do), and agents store it too.
    """
    lines = text.splitlines()
    analysis = False
    for number, line in enumerate(lines):
        opens = _PREPARED.fullmatch(line)
        if opens and not opens[1]:
            return "\n".join(lines[number + 1 :])
        analysis = analysis or opens is not None
        if not analysis and _section_of(_heading_in(line) or line) is not None:
            return text
    return text


def _heading_in(line: str) -> str:
    """The name of a Markdown heading; empty for any other line."""
    opening = HEADING.match(line)
    name = line[opening.end() :].strip().rstrip("#").rstrip() if opening else ""
    return name if len(name) <= _LONGEST_HEADING else ""


def _section_of(heading: str) -> str | None:
    name = heading.casefold().strip(" *:#").lstrip("0123456789.) ")
    return next((section for prefix, section in _ALIASES if name.startswith(prefix)), None)


class _Parser:
    def __init__(self) -> None:
        # Each item is the list of its lines.
        self._items: dict[str, list[list[str]]] = {}
        self._other: list[tuple[str, list[str]]] = []
        self._section: str | None = None
        self._heading = ""
        self._markdown = False

    def parse(self, text: str) -> Summary:
        for line, fenced in _lines(text):
            if not line.strip():
                continue
            if fenced or not self._structure(line):
                self._content(line, fenced=fenced)
        items = {name: tuple(map(" ".join, texts)) for name, texts in self._items.items()}
        decisions = tuple(map(_decision_of, items.pop("decisions", ())))
        other = tuple((heading, " ".join(lines)) for heading, lines in self._other)
        return Summary(decisions=decisions, other=other, **items)

    def _structure(self, line: str) -> bool:
        stripped = line.strip()
        if stripped == SPLIT_TURN_HEADING:
            self._section = "turn"
            return True
        heading = _heading_in(line)
        if heading:
            self._markdown = True
            self._open(heading)
            return True
        words = None if self._markdown else _NUMBERED_HEADING.fullmatch(line.rstrip())
        if words:
            self._open(words[1])
            return True
        return stripped == "---" or bool(_LOOSE_TAG.fullmatch(stripped))

    def _open(self, name: str) -> None:
        self._heading = one_line(name.strip(" *:"))
        self._section = _section_of(name)

    def _content(self, line: str, *, fenced: bool) -> None:
        item = ITEM.match(line)
        box = item["box"] if item else None
        written = one_line(_LOOSE_TAG.sub("", item["text"] if item else line))
        text = plain(written)
        if not text or written in NOTHING:
            return
        if box and self._section in ("progress", "done", "in_progress", "next_steps"):
            undone = "next_steps" if self._section == "next_steps" else "in_progress"
            self._add("done" if box != " " else undone, text)
        elif self._section in (None, "progress"):
            self._add_other(text, fenced=fenced)
        elif (
            (item and not item["indent"]) or box or (self._section == "goal" and not self._items.get("goal"))
        ):
            self._add(self._section, text)
        else:
            self._append(self._section, text)

    def _add(self, section: str, text: str) -> None:
        self._items.setdefault(section, []).append([text])

    def _append(self, section: str, text: str) -> None:
        """A wrapped or nested line belongs to the item above it."""
        items = self._items.setdefault(section, [])
        if items and section != "goal":
            items[-1].append(text)
        else:
            items.append([text])

    def _add_other(self, text: str, *, fenced: bool) -> None:
        """The lines of a code block belong to the item above it."""
        if fenced and self._other and self._other[-1][0] == self._heading:
            self._other[-1][1].append(text)
        else:
            self._other.append((self._heading, [text]))


def _decision_of(text: str) -> SummaryDecision:
    match = _DECISION.match(text)
    return SummaryDecision(match[1].strip(), (match[2] or "").strip()) if match else SummaryDecision(text)
