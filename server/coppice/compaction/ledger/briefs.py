"""The brief: an issue, a plan or a specification that was read through a tool or pasted by the user."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from coppice.compaction.ledger.shell import stages_of
from coppice.compaction.ledger.steps import Action, label_of, literal, strings_in
from coppice.compaction.ledger.tasks import shown_ids
from coppice.compaction.text.names import names_in
from coppice.compaction.text.sentences import clip, one_line
from coppice.compaction.words import pattern, raw
from coppice.protocol.ledger import Brief, WorkLedger

MOST_LINES: Final = 40
"""Lines of a brief that the ledger keeps (guess: a long issue)."""
_LINE_CHARS: Final = 360  # characters of a line (guess)
_SHORTEST: Final = 200  # characters of a document (guess)
_TITLE_CHARS: Final = 200  # characters of a title (guess)
_FEWEST_HEADINGS: Final = 2  # known headings that make a document a brief (guess)
_MANY_HEADINGS: Final = 4  # headings of any kind that do (guess)
_MOST_NAMES: Final = 4  # names in a line without anything about them (guess)
_CODE: Final = re.compile(r"`[^`]{1,300}`")
_HEADING: Final = re.compile(
    r"\s{0,3}(?:#{1,6}\s+(\S.{0,80})|\*\*([^*\n]{2,60})\*\*:?|([^\s:][^:\n]{1,40}):|([A-Z][A-Z ]{3,40}))\s*$"
)
_ITEM: Final = re.compile(r"(\s{0,40})(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)")
_KNOWN: Final = re.compile(rf"\W*(?:\d+[.)] )?(?:{raw('BRIEF_HEADING')})\b.*", re.IGNORECASE)
_RULE: Final = pattern("BRIEF_RULE")
_FIELD: Final = re.compile(r"\"(title|body|description|text)\"\s{0,4}:\s{0,4}(\"(?:[^\"\\]|\\.){1,20000}+\")")
_JSON_CHARS: Final = 60_000  # characters of an output that are searched for fields (guess)
_DATA: Final = re.compile(
    r"\s*(?:[{}\[\]<>|$↑↓←→↳]|_.{1,300}_$|\d+[→|]|[-*+] \[[xX]\] "
    r"|[\w-]{1,20}: \S{1,40}$|(?:Owner|Created|Updated|Type|Labels?|Status)\b)"
)


def note_brief(ledger: WorkLedger, action: Action) -> bool:
    """Takes in a brief that `action` read; False when what it read is none."""
    if action.failed or action.changes or len(action.output) < _SHORTEST or "prompt" in action.arguments:
        return False
    ids = shown_ids(action)
    stages = [stage for command in action.commands for stage in stages_of(command) if stage.program != "cd"]
    single = len(stages) <= 1
    if ids or (single and _is_asked_for(ledger, action) and is_document(action.output)):
        parts = [
            part for part in _parts(action.output, ids) if single or any(each in part[0] for each in ids)
        ]
    elif _is_asked_for(ledger, action):
        parts = list(_bodies(action.output))
    else:
        return False
    for title, lines in parts:
        kept = brief_lines(lines)
        if kept and title:
            _keep(
                ledger,
                Brief(entry_id=action.entry, source=clip(label_of(action), 120), title=title, lines=kept),
            )
    return True


def note_pasted_brief(ledger: WorkLedger, text: str, entry: str) -> bool:
    """Takes in a specification that the user pasted; False for any other message."""
    if len(text) < _SHORTEST * 5 or not is_document(text):
        return False
    lines = text.splitlines()
    title = next((line.strip("# *") for line in lines if line.strip("# *")), "")
    kept = brief_lines(lines)
    if kept:
        _keep(ledger, Brief(entry_id=entry, source="", title=clip(one_line(title), _TITLE_CHARS), lines=kept))
    return bool(kept)


def is_document(text: str) -> bool:
    """Whether `text` is written under headings that briefs have, or under many of any kind."""
    known, marked = set(), 0
    for line in text.splitlines()[:2_000]:
        match = _HEADING.match(line[:120])
        name = next((group for group in match.groups() if group), "") if match else ""
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
    numbers = {number for number in re.findall(r"(?<!\d)\d{2,9}", asked) if re.search(_alone(number), given)}
    return bool(numbers) or any(len(name) > 3 and name in given for name in wanted)  # noqa: PLR2004 - shorter is a word


def _alone(number: str) -> str:
    return rf"(?<![\d,.\w]){number}(?![\d,.\w])"


def _parts(output: str, ids: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The briefs in one output with their titles: a line that begins with an id begins one."""
    title = ""
    lines: list[str] = []
    for line in output.splitlines():
        place = next((line.find(each) for each in ids if 0 <= line.find(each) < 12), -1)  # noqa: PLR2004 - after a mark
        if place >= 0:
            if lines:
                yield title, lines
            title, lines = clip(one_line(line[place:]).partition("   ")[0], _TITLE_CHARS), []
        elif line.strip("=-─ "):
            lines.append(line)
            if not title and not _ITEM.match(line):
                title = clip(one_line(line.strip("# *")), _TITLE_CHARS)
    if lines:
        yield title, lines


def _bodies(output: str) -> Iterator[tuple[str, list[str]]]:
    """The titles and texts of the first description in an output that is JSON, with its title."""
    found = {name: literal(text) for name, text in reversed(_FIELD.findall(output[:_JSON_CHARS]))}
    bodies = (found.get(name, "") for name in ("body", "description", "text"))
    body = next((text for text in bodies if len(text) >= _SHORTEST), "")
    if body:
        yield clip(one_line(found.get("title", "")), _TITLE_CHARS), body.splitlines()


def _statements(lines: Iterable[str]) -> Iterator[str]:
    section, parents, fenced = "", list[tuple[int, str]](), False
    for line in lines:
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        if fenced or not line.strip() or _DATA.match(line[:320]):
            continue
        heading = _HEADING.match(line[:120])
        item = _ITEM.match(line[:2_000])
        if heading and not item:
            section = one_line(next(group for group in heading.groups() if group)).strip("*: ")
            parents = []
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
        if len(text) > 12:  # noqa: PLR2004 - shorter is a label or an address
            yield clip(
                f"{section.capitalize() if section.isupper() else section}: {whole}" if section else whole,
                _LINE_CHARS,
            )


def _is_list(text: str) -> bool:
    """Whether `text` is a label with many names in code marks, and nothing about them."""
    rest = _CODE.sub("", text.partition(": ")[2] or text)
    return len(_CODE.findall(text)) > _MOST_NAMES and not any(map(str.isalnum, rest))


def _keep(ledger: WorkLedger, brief: Brief) -> None:
    """Keeps a brief; one that was read again takes the place of what was read before."""
    title = brief.title.partition(" [")[0]
    ledger.briefs = [each for each in ledger.briefs if each.title.partition(" [")[0] != title]
    ledger.briefs.append(brief)
