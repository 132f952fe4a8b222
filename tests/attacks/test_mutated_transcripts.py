"""Sessions that are changed at random: each is read or refused, and costs linear time up to its facts.

They are files, and databases of agents.

`COPPICE_FAULT_SEED` repeats a run, `COPPICE_FUZZ_SECONDS` sets how long the slow one takes.
"""

import contextlib
import copy
import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest
from attacks.agents_databases import Databases
from attacks.hostile_texts import UNITS
from attacks.linear_time import assert_linear
from attacks.test_any_session_values import SESSIONS, VALUES, check, places, replaced

from coppice.compaction.asking.summarizer import SummaryRequest
from coppice.compaction.facts.ledger import LedgerBuilder
from coppice.compaction.span.serialization import serialize
from coppice.errors import ImportFailedError
from coppice.formats.reading import open_growing, open_session
from coppice.summarizers.offline import summarize_offline
from coppice.tokens.counting import estimate_tokens
from coppice.tree.entries import Entry, MessageEntry

T = TypeVar("T")

SEED = int(os.environ.get("COPPICE_FAULT_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
SECONDS = float(os.environ.get("COPPICE_FUZZ_SECONDS", "105"))
CHARS: Final = 6_000
"""Characters of the shortest text."""
TIMES: Final = 25
"""How often the lines are repeated in the shortest session."""
SPLICES: Final = (
    *UNITS,
    '\\"',
    '"\\',
    "\\'",
    "`\\`",
    "$(",
    "cat <<'E'\n",
    "*** Update File: a\n",
    "@@ -1 +1 @@\n",
    "run(",
)

WORDS: Final = (
    "src/{n}.py",
    "Please do not {n}.",
    "make t{n}",
    "git commit -m {n}",
    "{n} failed",
    "- [ ] {n}",
)


def read_whole(text: str) -> None:
    """What an import and a compaction of the session compute. ImportFailedError where it is none."""
    compute(list(open_session(text)))


def read_database(database: tuple[Path, str]) -> None:
    """As `read_whole`, of a file in a format."""
    compute(list(open_growing(*database, part="s")))


def compute(entries: list[Entry]) -> None:
    ledger = LedgerBuilder().add(entries).ledger
    messages = [entry.message for entry in entries if isinstance(entry, MessageEntry)]
    serialize(messages)
    request = SummaryRequest(
        history=messages,
        turn_prefix=[],
        kept_messages=[],
        previous_summary=None,
        instructions=None,
        max_tokens=2_000,
        count_tokens=estimate_tokens,
        ledger=ledger,
    )
    assert estimate_tokens(summarize_offline(request)) <= request.max_tokens


class Sessions:
    """Draws sessions, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self._places = {name: [[(), *places(line)] for line in lines] for name, lines in SESSIONS.items()}

    def changed(self) -> tuple[str, str]:
        """A format, and a session of it in which some values are others."""
        name = self.chance.choice(sorted(SESSIONS))
        lines = copy.deepcopy(SESSIONS[name])
        for _ in range(self.chance.randrange(1, 5)):
            number = self.chance.randrange(len(lines))
            place = self.chance.choice(self._places[name][number])
            new = self.chance.choice([*VALUES, self.text(30), SESSIONS[name][number], SESSIONS[name][-1]])
            # An earlier change may have taken the place away.
            with contextlib.suppress(LookupError, TypeError, AttributeError):
                lines[number] = replaced(lines[number], place, new)
        if self.chance.random() < 0.3:
            self.chance.shuffle(lines)
        text = "\n".join(map(json.dumps, lines))
        if self.chance.random() < 0.1:
            text = text[: self.chance.randrange(len(text))]
        return name.split()[0], text

    def growing_text(self) -> tuple[str, Callable[[int], str]]:
        """Sessions in which one text has so many times the size."""
        name = self.chance.choice(sorted(SESSIONS))
        lines = SESSIONS[name]
        texts = [
            (number, place)
            for number, line in enumerate(lines)
            for place in places(line)
            if isinstance(_at(line, place), str) and place[-1] not in {"type", "role", "id", "uuid"}
        ]
        number, place = self.chance.choice(texts)
        unit = self.text(self.chance.randrange(1, 4))
        before, after = self.text(2), self.text(2)

        def sized(times: int) -> str:
            text = before + unit * (times * CHARS // len(unit)) + after
            new = [*lines[:number], replaced(lines[number], place, text), *lines[number + 1 :]]
            return "\n".join(map(json.dumps, new))

        return f"{name} {place} {before!r} {unit!r} {after!r}", sized

    def growing_number(self) -> tuple[str, Callable[[int], str]]:
        """Sessions in which the lines are repeated so many times, each time with other ids and words."""
        name = self.chance.choice(["claude-code", "codex", "pi"])
        lines = SESSIONS[name]
        word = self.chance.choice(
            ["src/{n}.py", "Please do not {n}.", "make t{n}", "commit {n}", "{n} failed", "- [ ] {n}"]
        )
        number, place = self.chance.choice(
            [
                (number, place)
                for number, line in enumerate(lines[1:], 1)
                for place in places(line)
                if place[-1] in {"text", "content", "command", "cmd", "file", "message", "input", "arguments"}
                and isinstance(_at(line, place), str)
            ]
        )

        def sized(times: int) -> str:
            made = [json.dumps(lines[0])]
            for count in range(times * TIMES):
                renamed = replaced(lines[number], place, word.format(n=count))
                written = [json.dumps(each) for each in [*lines[1:number], renamed, *lines[number + 1 :]]]
                made += [_with_other_ids(each, count) for each in written]
            return "\n".join(made)

        return f"{name} {place} {word!r}", sized

    def text(self, parts: int) -> str:
        return "".join(self.chance.choices(SPLICES, k=parts))


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


def _with_other_ids(line: str, count: int) -> str:
    """The line with the ids of its samples, which are quoted and two characters long, made another's."""
    for entry_id in ("u1", "a1", "r1", "b1", "s1", "c1", "m1", "k1", "k2", "k3", "k4", "1", "2", "3", "4"):
        line = line.replace(f'"{entry_id}"', f'"{entry_id}-{count}"')
    return line


def _assert_linear(read: Callable[[T], None], name: str, sized: Callable[[int], T]) -> None:
    def read_if_possible(given: T) -> None:
        with contextlib.suppress(ImportFailedError):
            read(given)

    assert_linear(f"seed {SEED}: {name}", read_if_possible, sized)


def run(until: float, most: int, folder: Path) -> int:
    print(f"COPPICE_FAULT_SEED={SEED}")
    sessions = Sessions(SEED)
    databases = Databases(SEED, folder, sessions.text)
    done = 0
    while done < most and time.monotonic() < until:
        for _ in range(10):
            format_, text = sessions.changed()
            check(text, format_)
            _read_or_refuse(read_whole, text)
            _read_or_refuse(read_database, databases.changed())
        _assert_linear(read_whole, *sessions.growing_text())
        if done % 5 == 0:
            _assert_linear(read_whole, *sessions.growing_number())
            _assert_linear(read_database, *databases.growing_text())
            _assert_linear(read_database, *databases.growing_number())
            for each in folder.glob("*.db"):
                each.unlink()
        done += 1
    print(f"{done} rounds")
    return done


def _read_or_refuse(read: Callable[[T], None], given: T) -> None:
    try:
        read(given)
    except ImportFailedError:
        pass
    except Exception as error:
        error.add_note(f"seed {SEED}: {given}")
        raise


def test_a_mutated_transcript_is_read_or_refused_in_linear_time(tmp_path: Path) -> None:
    assert run(time.monotonic() + 15, 40, tmp_path) > 0


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_mutated_transcripts_are_read_or_refused_for_minutes(tmp_path: Path) -> None:
    assert run(time.monotonic() + SECONDS, 10**9, tmp_path) > 0
