"""The structured summary as a value: parsed from any text, rendered in one form."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from coppice.compaction.text.sentences import one_line
from coppice.tree.tags import escape_tags

NONE: Final = "(none)"
SPLIT_TURN_HEADING: Final = "**Turn Context (split turn):**"

_HEADING: Final = re.compile(r"\s{0,3}#{1,6}(?!#)(?=\s)")
_SENTENCE_ENDS: Final = (".", "!", "?", "。", "！", "？", "]")
_LONGEST_HEADING: Final = 200  # characters (guess)
_NUMBERED_HEADING: Final = re.compile(r"(?:\d{1,2}[.)]\s+)?\**([A-Z][A-Za-z ,/&()'’-]{2,60}?)\**:\**")
_TASK: Final = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+\[([ xX])\]\s+(.*)$")
_ITEM: Final = re.compile(r"(\s*)(?:[-*+•]|\d{1,3}[.)])\s+(.*)$")
_FENCE: Final = re.compile(r"\s{0,3}(?:```|~~~)")
_FILE_TAGS: Final = ("read-files", "modified-files")
_NOTHING: Final = (NONE, "none", "None", "N/A", "[none]")
_LOOSE_TAG: Final = re.compile(r"</?(?:summary|previous-summary|analysis|read-files|modified-files)>")
_STRUCTURE: Final = re.compile(
    r"(?:#{1,6}(?:\s|$)|[-+*>](?:\s|$)|-{3,}|={3,}|\*{3,}|\*\*Turn Context|_{3,}|`{3}"
    r"|~{3}|\d{1,9}[.)](?:\s|$)|\[[ xX]\])"
)
_DECISION: Final = re.compile(r"\*\*(.{1,2000}?)\*\*(?::\s*(.*))?$")
_MAX_CHARS: Final = 400_000  # characters of a summary that are parsed (guess: 100,000 tokens)

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


@dataclass(frozen=True, slots=True)
class SummaryDecision:
    """A decision as a summary states it; `why` may be empty."""

    what: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """A structured summary. Every text is one line, which rendering makes unable to look like structure.

    `turn` describes the early part of a split turn. `other` holds what was under headings that the
    format does not have: pairs of heading (empty before the first one) and line.
    """

    goal: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    in_progress: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    decisions: tuple[SummaryDecision, ...] = ()
    next_steps: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    turn: tuple[str, ...] = ()
    other: tuple[tuple[str, str], ...] = ()

    def render(self) -> str:
        """The text in the structured format, every heading present; `other` goes under the context."""
        context = [
            *self.context,
            *(f"{heading}: {line}" if heading else line for heading, line in self.other),
        ]
        parts = [
            _section("## Goal", _goal_lines(self.goal)),
            _section("## Constraints & Preferences", _marked("- ", self.constraints)),
            "## Progress",
            _section("### Done", _marked("- [x] ", self.done)),
            _section("### In Progress", _marked("- [ ] ", self.in_progress)),
            _section("### Blocked", _marked("- ", self.blocked)),
            _section("## Key Decisions", [f"- {_decision_line(decision)}" for decision in self.decisions]),
            _section(
                "## Next Steps", [f"{n}. {text}" for n, text in enumerate(_marked("", self.next_steps), 1)]
            ),
            _section("## Critical Context", _marked("- ", context)),
        ]
        if turn := _marked("- ", self.turn):
            parts.append(f"---\n\n{SPLIT_TURN_HEADING}\n\n" + "\n".join(turn))
        return "\n\n".join(parts)


def parse_summary(text: str) -> Summary:
    """The summary in `text`, whoever wrote it. Nothing but blank lines, markers and blocks is lost.

    Our own format comes back as it was; headings of other programs are mapped to ours where they mean the
    same, and kept under `other` where they do not. File blocks are taken off; headings in fenced code are
    text.
    """
    return _Parser().parse(without_file_blocks(text[:_MAX_CHARS]))


def missing_headings(text: str) -> list[str]:
    """The headings of the format that `text` lacks, as they should be written."""
    wanted = (
        "## Goal",
        "## Constraints & Preferences",
        "## Progress",
        "### Done",
        "### In Progress",
        "### Blocked",
        "## Key Decisions",
        "## Next Steps",
        "## Critical Context",
    )
    present = {line.strip() for line, fenced in _lines(text) if not fenced}
    return [heading for heading in wanted if heading not in present]


def inert(text: str) -> str:
    """`text` on one line, unable to open a section, a list item or a rule, or to close a tag of ours."""
    line = escape_tags(one_line(text))
    return f"\\{line}" if _STRUCTURE.match(line) or line in _NOTHING else line


def _section(heading: str, lines: Iterable[str]) -> str:
    return "\n".join([heading, *(list(lines) or [NONE])])


def _goal_lines(goal: tuple[str, ...]) -> list[str]:
    first, *rest = _marked("", goal) or [""]
    return [first, *(f"- {text}" for text in rest)] if first else []


def _marked(marker: str, texts: Iterable[str]) -> list[str]:
    return [f"{marker}{line}" for line in map(inert, texts) if line]


def _decision_line(decision: SummaryDecision) -> str:
    what = escape_tags(one_line(decision.what.replace("**", "")))
    why = escape_tags(one_line(decision.why))
    if why or not what.endswith(_SENTENCE_ENDS):
        return f"**{what}**: {why}" if why else f"**{what}**"
    return inert(what)


def _plain(text: str) -> str:
    """An item's text without the mark that keeps it inert."""
    line = one_line(text)
    return line[1:] if line[:1] == "\\" and (_STRUCTURE.match(line[1:]) or line[1:] in _NOTHING) else line


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            continue
        yield line, fenced


def without_file_blocks(text: str) -> str:
    """`text` without the blocks of file lists. Linear in its length."""
    for tag in _FILE_TAGS:
        kept, opened = [], text.find(f"<{tag}>")
        while opened >= 0 and (closed := text.find(f"</{tag}>", opened)) >= 0:
            kept.append(text[:opened])
            text = text[closed + len(tag) + 3 :]
            opened = text.find(f"<{tag}>")
        text = "".join([*kept, text])
    return text


def _heading_in(line: str) -> str:
    """The name of a Markdown heading; empty for any other line."""
    opening = _HEADING.match(line)
    name = line[opening.end() :].strip().rstrip("#").rstrip() if opening else ""
    return name if len(name) <= _LONGEST_HEADING else ""


def _section_of(heading: str) -> str | None:
    name = heading.casefold().strip(" *:#").lstrip("0123456789.) ")
    return next((section for prefix, section in _ALIASES if name.startswith(prefix)), None)


class _Parser:
    def __init__(self) -> None:
        self._items: dict[str, list[str]] = {}
        self._other: list[tuple[str, str]] = []
        self._section: str | None = None
        self._heading = ""
        self._markdown = False

    def parse(self, text: str) -> Summary:
        for line, fenced in _lines(text):
            if not line.strip():
                continue
            if fenced or not self._structure(line):
                self._content(line)
        items = {name: tuple(texts) for name, texts in self._items.items()}
        return Summary(
            goal=items.get("goal", ()),
            constraints=items.get("constraints", ()),
            done=items.get("done", ()),
            in_progress=items.get("in_progress", ()),
            blocked=items.get("blocked", ()),
            decisions=tuple(_decision_of(text) for text in items.get("decisions", ())),
            next_steps=items.get("next_steps", ()),
            context=items.get("context", ()),
            turn=items.get("turn", ()),
            other=tuple(self._other),
        )

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

    def _content(self, line: str) -> None:
        task, item = _TASK.match(line), _ITEM.match(line)
        written = one_line(_LOOSE_TAG.sub("", task[2] if task else item[2] if item else line))
        text = _plain(written)
        if not text or written in _NOTHING:
            return
        if task and self._section in ("progress", "done", "in_progress", "next_steps"):
            undone = "next_steps" if self._section == "next_steps" else "in_progress"
            self._add("done" if task[1] != " " else undone, text)
        elif self._section in (None, "progress"):
            self._other.append((self._heading, text))
        elif (item and not item[1]) or task or (self._section == "goal" and not self._items.get("goal")):
            self._add(self._section, text)
        else:
            self._append(self._section, text)

    def _add(self, section: str, text: str) -> None:
        self._items.setdefault(section, []).append(text)

    def _append(self, section: str, text: str) -> None:
        """A wrapped or nested line belongs to the item above it."""
        items = self._items.setdefault(section, [])
        if items and section != "goal":
            items[-1] = f"{items[-1]} {text}"
        else:
            items.append(text)


def _decision_of(text: str) -> SummaryDecision:
    match = _DECISION.match(text)
    return SummaryDecision(match[1].strip(), (match[2] or "").strip()) if match else SummaryDecision(text)
