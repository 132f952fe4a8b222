"""Validates a model's answer as a summary: cleaned up where that is certain, else rejected with a reason."""

import re
from dataclasses import dataclass, replace
from typing import Final

from coppice.compaction.asking.prompts import TURN_LABELS, Part
from coppice.compaction.checking.cleanup import cleaned, without_preamble
from coppice.compaction.checking.narrative import in_format, safe_text, with_none
from coppice.compaction.summary import SECTIONS, Summary, inert
from coppice.compaction.summary_parser import LEAST_HEADINGS, missing_headings, parse_summary
from coppice.compaction.text.markdown import ITEM
from coppice.compaction.text.names import names_in
from coppice.compaction.text.sentences import one_line
from coppice.compaction.writing.document import narrative_in
from coppice.tree.messages import AssistantMessage, text_of

_ALL_HEADINGS: Final = 9  # headings of the format
_LEAST_WHEN_BROKEN: Final = 3  # stated lines of an answer that broke off (guess)
_LEAST_LEFT: Final = 0.25  # share of an answer that must remain after repetitions are removed (guess)
_MANY_NAMES: Final = 20  # names in the material of which an answer must have one (guess)
_LEAST_CHARS: Final = 20  # characters under all headings together (guess)
_LOOPED: Final = "It repeated itself instead of stating what happened."
_FILE_HEADING: Final = re.compile(
    r"(?:read|modified|changed|created|deleted|touched)[-_ ]files?$", re.IGNORECASE
)
_PLACEHOLDER: Final = re.compile(
    r"<[a-z][^<>]{8,120}>|\[(?:your|the|insert|list)\b[^\]]{0,80}\]|\.{3}|…", re.IGNORECASE
)
_LABEL: Final = re.compile(
    rf"\*{{0,4}}({'|'.join(TURN_LABELS)})\*{{0,4}}\s{{0,8}}[:：]\*{{0,4}}\s*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Validation:
    """`text` is None when the answer is no summary; then `problem` is what the model is sent about it.

    `repaired` names what was cleaned, in order, each once.
    """

    text: str | None
    repaired: tuple[str, ...] = ()
    problem: str = ""


def validate(message: AssistantMessage, part: Part, leaks: frozenset[str], material: str = "") -> Validation:
    """What `message` is worth as the summary of `part`. `leaks` are our own sentences, normalized.

    `material` is what was to be summarized: an answer that names nothing of it, where there is much to name,
    is about something else.

    A text in the format stays as it was written, but for control characters and tags of ours. In any other,
    headings are mapped to ours, file lists and whatever is outside the format come off, and every line comes
    out as text that cannot open a section.
    """
    answer = text_of(message.content)
    if not answer.strip():
        return Validation(None, problem=_why_empty(message))
    cut_off = message.stop_reason == "length"
    work = cleaned(answer, leaks, cut_off=cut_off)
    if not work.text.strip():
        return Validation(None, tuple(work.repaired), _why_nothing_left(work.repaired))
    looped = "repetition" in work.repaired and len(work.text) < _LEAST_LEFT * len(answer.strip())
    if part == "turn":
        validation = _validated_turn(work.text, work.repaired, looped=looped)
    else:
        validation = _validated_summary(work.text, work.repaired, cut_off=cut_off, looped=looped)
    if validation.text is not None and _is_about_something_else(validation.text, material):
        return Validation(
            None, validation.repaired, "It names no file and no name of the conversation it is about."
        )
    return validation


def _is_about_something_else(stated: str, material: str) -> bool:
    names = set(names_in(material))
    return len(names) >= _MANY_NAMES and not any(name in names for name in names_in(stated))


def _validated_summary(text: str, repaired: list[str], *, cut_off: bool, looped: bool) -> Validation:
    started = without_preamble(text)
    if started != text:
        repaired.append("preamble")
    text = started
    missing = missing_headings(text)
    parsed = parse_summary(text)
    if parsed.turn:
        repaired.append("turn context")
    summary, dropped = _without_foreign_parts(replace(parsed, turn=()))
    repaired += dropped
    stated = sum(bool(getattr(summary, section)) for section in SECTIONS)
    if looped and stated < _LEAST_WHEN_BROKEN:
        return Validation(None, tuple(repaired), _LOOPED)
    if _ALL_HEADINGS - len(missing) < LEAST_HEADINGS and stated < LEAST_HEADINGS:
        return Validation(None, tuple(repaired), _why_unstructured(repaired))
    if not stated:
        return Validation(None, tuple(repaired), "The headings are there, but nothing is under them.")
    if cut_off and stated < _LEAST_WHEN_BROKEN:
        return Validation(None, tuple(repaired), "It was cut off too early: it must be much shorter.")
    safe = None if dropped or parsed.turn else in_format(safe_text(text))
    if safe and narrative_in(safe) == safe:
        return Validation(with_none(safe), tuple(dict.fromkeys(repaired)))
    repaired.append("headings")
    return Validation(summary.render(), tuple(dict.fromkeys(repaired)))


def _validated_turn(text: str, repaired: list[str], *, looped: bool) -> Validation:
    lines = [line for raw in text.splitlines() if (line := _turn_line(raw))]
    labelled = [line for line in lines if _LABEL.match(line)]
    if looped and not labelled:
        return Validation(None, tuple(repaired), _LOOPED)
    if not labelled and not any(map(ITEM.match, text.splitlines())):
        return Validation(None, tuple(repaired), "It is no list of labelled lines.")
    if labelled and len(labelled) < len(lines):
        repaired.append("preamble")
    stated = tuple(
        _LABEL.sub(lambda match: f"{match[1].capitalize()}: ", line, count=1) for line in labelled or lines
    )
    if sum(map(len, stated)) < _LEAST_CHARS:
        return Validation(None, tuple(repaired), "It has no content.")
    text = "\n".join(f"- {inert(line)}" for line in stated)
    return Validation(text, tuple(dict.fromkeys(repaired)))


def _turn_line(raw: str) -> str:
    if raw.lstrip().startswith(("#", "---", "```", "**Turn Context")):
        return ""
    item = ITEM.match(raw)
    line = one_line(item["text"] if item else raw)
    rest = _LABEL.sub("", line, count=1)
    return "" if not rest or _is_nothing(rest) or _PLACEHOLDER.fullmatch(rest) else line


def _is_nothing(text: str) -> bool:
    return text.casefold().strip("().[]- ") in ("", "none", "n/a", "nothing")


def _without_foreign_parts(summary: Summary) -> tuple[Summary, list[str]]:
    """Without what was before the first heading, under headings of file lists, and placeholders."""
    dropped = []
    if any(not heading for heading, _ in summary.other):
        dropped.append("preamble")
    if any(_FILE_HEADING.match(heading) for heading, _ in summary.other):
        dropped.append("file lists")
    other = tuple(
        (heading, line) for heading, line in summary.other if heading and not _FILE_HEADING.match(heading)
    )
    texts = {name: _meant(getattr(summary, name)) for name in SECTIONS if name != "decisions"}
    decisions = tuple(each for each in summary.decisions if _meant((each.what,)))
    stated = replace(summary, decisions=decisions, other=other, **texts)
    if stated != replace(summary, other=other):
        dropped.append("placeholders")
    return stated, dropped


def _meant(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(line for line in lines if not _PLACEHOLDER.fullmatch(line.strip()) and not _is_nothing(line))


def _why_empty(message: AssistantMessage) -> str:
    if message.tool_calls:
        return "It called a tool; only text is wanted."
    if message.stop_reason == "length":
        return "All of it was spent on thinking; think less and write the summary."
    return "It was empty."


def _why_nothing_left(repaired: list[str]) -> str:
    if "tool calls" in repaired:
        return "It was a tool call; only text is wanted."
    if "leaked instructions" in repaired:
        return "It repeated the instructions instead of following them."
    return "It held nothing but thinking or file lists."


def _why_unstructured(repaired: list[str]) -> str:
    if "tool calls" in repaired:
        return "It was a tool call; only text is wanted."
    return (
        "It answered the conversation, or reported it without the headings; write under the headings given."
    )
