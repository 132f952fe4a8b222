"""The structured summary as a value, rendered in one form."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from coppice.compaction.text.markdown import opens_html
from coppice.compaction.text.sentences import one_line
from coppice.tree.tags import escape_tags

HEADINGS: Final = (
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
SECTIONS: Final = (
    "goal", "constraints", "done", "in_progress", "blocked", "decisions", "next_steps", "context",
)  # fmt: skip
"""The fields of a summary that have a heading, in order."""
NONE: Final = "(none)"
SPLIT_TURN_HEADING: Final = "**Turn Context (split turn):**"

_SENTENCE_ENDS: Final = (".", "!", "?", "。", "！", "？", "]")
NOTHING: Final = (NONE, "none", "None", "N/A", "[none]")
_STRUCTURE: Final = re.compile(
    r"(?:#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|-{3,}|={3,}|\*{3,}|\*\*Turn Context|_{3,}|`{3}"
    r"|~{3}|\d{1,9}[.)](?:\s|$)|\[[ xX]\])"
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
        context = [*self.context, *self.other_lines()]
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

    def other_lines(self) -> list[str]:
        """The lines of `other`; the first of each heading begins with it."""
        above = ["", *(heading for heading, _ in self.other)]
        return [
            f"{heading}: {line}" if heading and heading != previous else line
            for previous, (heading, line) in zip(above, self.other, strict=False)
        ]


def inert(text: str) -> str:
    """`text` on one line, unable to open any block of Markdown, or to close a tag of ours."""
    line = escape_tags(one_line(text))
    return f"\\{line}" if _is_structure(line) else line


def plain(text: str) -> str:
    """The text that `inert` made `text` of, without the mark in front of it."""
    line = one_line(text)
    return line[1:] if line[:1] == "\\" and _is_structure(line[1:]) else line


def _is_structure(line: str) -> bool:
    return line in NOTHING or bool(_STRUCTURE.match(line)) or opens_html(line)


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
