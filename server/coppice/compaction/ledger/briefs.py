"""The brief: an issue, a plan or a specification that was read through a tool or pasted by the user."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from coppice.compaction.ledger.steps import Action, label_of, literal, strings_in
from coppice.compaction.ledger.tasks import shown_ids
from coppice.compaction.text.markdown import CODE, FENCE, ITEM, heading_in
from coppice.compaction.text.names import names_in
from coppice.compaction.text.sentences import clip, label, one_line
from coppice.compaction.words import pattern, raw
from coppice.protocol.ledger import Brief, WorkLedger

MOST_LINES: Final = 40
"""Lines of a brief that the ledger keeps (guess: a long issue)."""
_LINE_CHARS: Final = 360  # characters of a line (guess)
_SHORTEST: Final = 200  # characters of a document (guess)
_FEWEST_HEADINGS: Final = 2  # known headings that make a document a brief (guess)
_MANY_HEADINGS: Final = 4  # headings of any kind that do (guess)
_MOST_NAMES: Final = 4  # names in a line without anything about them (guess)
_LABEL: Final = re.compile(r"\s{0,3}(?:([^\s:][^:\n]{1,40}):|([A-Z][A-Z ]{3,40}))\s*$")
_KNOWN: Final = re.compile(rf"\W*(?:\d+[.)] )?(?:{raw('BRIEF_HEADING')})\b.*", re.IGNORECASE)
_RULE: Final = pattern("BRIEF_RULE")
_FIELD: Final = re.compile(r"\"(title|body|description|text)\"\s{0,4}:\s{0,4}(\"(?:[^\"\\]|\\.){1,20000}+\")")
_JSON_CHARS: Final = 60_000  # characters of an output that are searched for fields (guess)
_DATA: Final = re.compile(
    r"\s*(?:[{}\[\]<>|$↑↓←→↳]|_.{1,300}_$|\d+[→|]|[-*+] \[[xX]\] "
    r"|[\w-]{1,20}: \S{1,40}$|(?:Owner|Created|Updated|Type|Labels?|Status)\b)"
)


def note_brief(ledger: WorkLedger, action: Action) -> None:
    """Takes in a brief that `action` read, if what it read is one."""
    if action.failed or action.changes or len(action.output) < _SHORTEST or "prompt" in action.arguments:
        return
    ids = shown_ids(action)
    stages = [stage for stage in action.stages if stage.program != "cd"]
    single = len(stages) <= 1
    if ids or (single and _is_asked_for(ledger, action) and is_document(action.output)):
        parts = [
            part for part in _parts(action.output, ids) if single or any(each in part[0] for each in ids)
        ]
    elif _is_asked_for(ledger, action):
        parts = list(_bodies(action.output))
    else:
        return
    for title, lines in parts:
        kept = brief_lines(lines)
        if kept and title:
            source = label(label_of(action))
            _keep(ledger, Brief(entry_id=action.entry, source=source, title=title, lines=kept))


def note_pasted_brief(ledger: WorkLedger, text: str, entry: str) -> bool:
    """Takes in a specification that the user pasted; False for any other message."""
    if len(text) < _SHORTEST * 5 or not is_document(text):
        return False
    lines = text.splitlines()
    title = next((line.strip("# *") for line in lines if line.strip("# *")), "")
    kept = brief_lines(lines)
    if kept:
        _keep(ledger, Brief(entry_id=entry, source="", title=label(title), lines=kept))
    return bool(kept)


def is_document(text: str) -> bool:
    """Whether `text` is written under headings that briefs have, or under many of any kind."""
    known, marked = set(), 0
    for line in text.splitlines()[:2_000]:
        name = _heading(line)
        marked += line.startswith("#") and bool(name)
        if name and _KNOWN.fullmatch(name):
            known.add(name.casefold())
    return len(known) >= _FEWEST_HEADINGS or marked >= _MANY_HEADINGS


def brief_lines(lines: Iterable[str]) -> list[str]:
    """The statements of a brief, in order, each with what it belongs to; those that bind are kept first."""
    found = list(dict.fromkeys(_statements(lines)))
    if len(found) <= MOST_LINES:
        return found
    best = sorted(range(len(found)), key=lambda place: (-weight_of(found[place]), place))[:MOST_LINES]
    return [found[place] for place in sorted(best)]


def weight_of(line: str) -> float:
    """How much a line of a brief binds: what it forbids and demands before what it describes."""
    names = len(set(names_in(line)))
    return 2.0 * bool(_RULE.search(line)) + 1.5 * bool(_KNOWN.match(line[:60])) + 0.3 * min(names, 3)


def _is_asked_for(ledger: WorkLedger, action: Action) -> bool:
    """Whether the user named what `action` read: a file, an address, an id."""
    asked = " ".join(request.text for request in ledger.requests)
    given = " ".join(text[:2_000] for text in strings_in(action.arguments))
    wanted = {name.rstrip("/").rpartition("/")[2] for name in names_in(asked)}
    numbers = {*re.findall(r"(?<!\d)\d{2,9}", asked)} & {*re.findall(r"(?<![\d,.\w])\d+(?![\d,.\w])", given)}
    return bool(numbers) or any(len(name) > 3 and name in given for name in wanted)  # noqa: PLR2004 - shorter is a word


def _parts(output: str, ids: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The briefs in one output with their titles: a line that begins with an id begins one."""
    title = ""
    lines: list[str] = []
    for line in output.splitlines():
        place = next((line.find(each) for each in ids if 0 <= line.find(each) < 12), -1)  # noqa: PLR2004 - after a mark
        if place >= 0:
            if lines:
                yield title, lines
            title, lines = label(line[place:]), []
        elif line.strip("=-─ "):
            lines.append(line)
            if not title and not ITEM.match(line):
                title = label(line.strip("# *"))
    if lines:
        yield title, lines


def _bodies(output: str) -> Iterator[tuple[str, list[str]]]:
    """The titles and texts of the first description in an output that is JSON, with its title."""
    found = {name: literal(text) for name, text in reversed(_FIELD.findall(output[:_JSON_CHARS]))}
    bodies = (found.get(name, "") for name in ("body", "description", "text"))
    body = next((text for text in bodies if len(text) >= _SHORTEST), "")
    if body:
        yield label(found.get("title", "")), body.splitlines()


def _statements(lines: Iterable[str]) -> Iterator[str]:
    section, parents, fenced = "", list[tuple[int, str]](), False
    for line in lines:
        if FENCE.match(line):
            fenced = not fenced
        if fenced or not line.strip() or _DATA.match(line[:320]):
            continue
        item = ITEM.match(line[:2_000])
        if not item and (heading := _heading(line)):
            section, parents = one_line(heading).strip("*: "), []
            continue
        indent, text = (len(item[1]), item[2]) if item else (0, line)
        text = one_line(text[:2_000])
        parents = [(depth, parent) for depth, parent in parents if depth < indent] if item else []
        if text.endswith(":") and item:
            parents.append((indent, text))
            continue
        whole = " ".join([*(parent for _, parent in parents), text])
        if text.endswith((":", "：", ",")) or _is_list(text):
            continue
        if len(text.encode()) > 12:  # noqa: PLR2004 - shorter is a label or an address; Chinese takes 3 a character
            yield clip(
                f"{section.capitalize() if section.isupper() else section}: {whole}" if section else whole,
                _LINE_CHARS,
            )


def _heading(line: str) -> str:
    """A heading, marked as one or a short label on a line of its own; else empty."""
    match = _LABEL.match(line[:120])
    return heading_in(line) or (match[1] or match[2] if match else "")


def _is_list(text: str) -> bool:
    """Whether `text` is a label with many names in code marks, and nothing about them."""
    rest = CODE.sub("", text.partition(": ")[2] or text)
    return len(CODE.findall(text)) > _MOST_NAMES and not any(map(str.isalnum, rest))


def _keep(ledger: WorkLedger, brief: Brief) -> None:
    """Keeps a brief; one that was read again takes the place of what was read before."""
    title = brief.title.partition(" [")[0]
    ledger.briefs = [each for each in ledger.briefs if each.title.partition(" [")[0] != title]
    ledger.briefs.append(brief)
