"""Which exact statements of a text occur nowhere in what it is about. Nothing is changed.

A hash, a path, a number with its unit and a quotation can be looked for; prose cannot. One pass over the
evidence looks for all of them, so that the time is linear in both.
"""

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, Literal

from coppice.compaction.text.names import names_in

Kind = Literal["hash", "path", "reference", "number", "quotation", "check", "worktree", "branch", "commit"]

_Triple = tuple[str, str, str]

_HARD: Final = frozenset({"hash", "path", "reference"})
_MOST_CLAIMS: Final = 2_000
"""Claims of one text that are looked for: a summary of 30,000 tokens holds fewer."""
_REFERENCE: Final = re.compile(r"\[#([A-Za-z0-9_-]{1,80})\]")
HASH: Final = re.compile(r"(?<![\w#-])(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,40}(?![\w-])")
_HEX: Final = re.compile(r"[0-9a-f]{7,}")
_PATH: Final = re.compile(r"(?:[\w.@+~-]*/)+[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,9}")
_PART: Final = re.compile(r"[\w.@+-]+")
_QUANTITY: Final = re.compile(
    r"(?<![\w.,/#-])(\d[\d,]*(?:\.\d+)?)\s?"
    r"(?:%|(?:ms|[sh]|sec(?:ond)?s?|min(?:ute)?s?|hours?|days?|[kKMG]i?B|bytes|px|tokens?|lines?|tests?|files?"
    r"|commits?|errors?|warnings?|failures?|passed|failed|skipped)(?![\w/-]))"
)
_NUMBER: Final = re.compile(r"\d[\d,]*(?:\.\d+)?")
_QUOTED: Final = re.compile(r'"([^"]*)"|“([^“”]*)”|「([^「」]*)」')
_ELLIPSIS: Final = re.compile(r"…|\.{3}")
_WORD: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
_FEWEST_WORDS: Final = 3
"""Words of a quotation that is longer than a term in quotation marks."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An exact statement in line `line` of a text, counted from 0. `shown`: what the state shows instead."""

    kind: Kind
    text: str
    line: int
    shown: str = ""

    @property
    def is_hard(self) -> bool:
        """Whether it is wrong for certain when nothing shows it: a name is exact, a number may be a sum."""
        return self.kind in _HARD


@dataclass(slots=True)
class _Needed:
    """What the claims need of the evidence, and what of it was seen."""

    hashes: set[str] = field(default_factory=set)
    parts: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    triples: set[_Triple] = field(default_factory=set)
    seen: set[str | _Triple] = field(default_factory=set)

    def look_in(self, text: str) -> None:
        """Notes what of the needed occurs in `text`. Linear in its length."""
        if self.hashes:
            lengths = {len(each) for each in self.hashes}
            for run in _HEX.findall(text.lower()):
                self.seen |= self.hashes.intersection(run[:length] for length in lengths)
        if self.parts:
            self.seen |= self.parts.intersection(_parts(text))
        if self.numbers:
            self.seen |= self.numbers.intersection(map(_plain_number, _NUMBER.findall(text)))
        if self.triples:
            self.seen |= self.triples.intersection(_triples(text))


def claims_in(text: str) -> list[Claim]:
    """The claims of `text` that can be looked for, in order, each once; at most 2,000."""
    claims: dict[tuple[Kind, str], Claim] = {}
    for number, line in enumerate(text.splitlines()):
        for kind, claim in _claims_of(line):
            claims.setdefault((kind, claim), Claim(kind, claim, number))
        if len(claims) >= _MOST_CLAIMS:
            break
    return list(claims.values())[:_MOST_CLAIMS]


def unsupported(
    text: str, evidence: Iterable[str], references: AbstractSet[str] = frozenset()
) -> list[Claim]:
    """The claims of `text` that none of the texts of `evidence` shows, in order. CPU-bound.

    `references` are the ids that a statement may name as its source. A path is shown by its parts, wherever
    they stand: a command may have changed the folder before.
    """
    claims = claims_in(text)
    needed = _Needed()
    for claim in claims:
        match claim.kind:
            case "hash":
                needed.hashes.add(claim.text)
            case "path":
                needed.parts.update(_parts(claim.text))
            case "number":
                needed.numbers.add(_plain_number(claim.text))
            case "quotation":
                needed.triples.update(_triples(claim.text))
            case _:
                pass
    for each in evidence:
        needed.look_in(each)
        if "\\n" in each:
            needed.look_in(each.replace("\\n", " "))  # JSON in a string
    return [claim for claim in claims if not _is_shown(claim, needed.seen, references)]


def _claims_of(line: str) -> Iterator[tuple[Kind, str]]:
    yield from (("reference", match[1]) for match in _REFERENCE.finditer(line))
    line = _REFERENCE.sub("", line)
    yield from (("hash", match[0]) for match in HASH.finditer(line))
    for name in names_in(line):
        path = name.partition(":")[0]
        if "://" not in name and _PATH.fullmatch(path):
            yield "path", path
    yield from (("number", match[1]) for match in _QUANTITY.finditer(line))
    for match in _QUOTED.finditer(line):
        for piece in _ELLIPSIS.split(match[1] or match[2] or match[3] or ""):
            if len(_WORD.findall(piece)) >= _FEWEST_WORDS:
                yield "quotation", piece.strip()


def _is_shown(claim: Claim, seen: AbstractSet[str | _Triple], references: AbstractSet[str]) -> bool:
    match claim.kind:
        case "reference":
            return claim.text in references
        case "hash":
            return claim.text in seen
        case "path":
            return all(part in seen for part in _parts(claim.text))
        case "number":
            return _plain_number(claim.text) in seen
        case _:
            return all(each in seen for each in _triples(claim.text))


def _parts(text: str) -> Iterator[str]:
    """The names between slashes and other marks, without the dots around them."""
    return (part for run in _PART.findall(text) if (part := run.strip(".")))


def _triples(text: str) -> Iterator[_Triple]:
    words = _WORD.findall(text.casefold())
    return zip(words, words[1:], words[2:], strict=False)


def _plain_number(number: str) -> str:
    whole, _, fraction = number.replace(",", "").partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole
