"""Many events in, at most one change a file out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.files.changes import MOST_FILES, Changes, Event, chosen, unrecorded
from coppice.tree.entries import FileChange


def event(line: str) -> Event:
    """`+a` created, `~a` modified, `-a` deleted, `?a` read, `a>b` renamed; `w ` a watcher's, `/` a folder."""
    source, rest = ("watcher", line[2:]) if line.startswith("w ") else ("editor", line)
    if ">" in rest:
        old, new = rest.split(">")
        return Event(new.rstrip("/"), "renamed", source, old.rstrip("/"), folder=new.endswith("/"))  # type: ignore[arg-type]  # one of the two
    kinds = {"+": "created", "~": "modified", "-": "deleted", "?": "read"}
    return Event(rest[1:], kinds[rest[0]], source)  # type: ignore[arg-type]  # of the table


def noted(*lines: str) -> Changes:
    changes = Changes()
    for line in lines:
        changes.note(event(line))
    return changes


def shown(change: FileChange) -> str:
    sign = {"created": "+", "modified": "~", "deleted": "-", "read": "?"}
    return f"{change.from_path}>{change.path}" if change.from_path else f"{sign[change.kind]}{change.path}"


def net(changes: Changes) -> list[str]:
    return [shown(change) for change in changes.net()]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        (["~a", "~a", "w ~a"], ["~a"]),
        (["+a", "~a", "w +a", "w ~a"], ["+a"]),
        (["+a", "-a"], []),
        (["+a", "~a", "-a", "+a"], ["+a"]),
        (["~a", "-a"], ["-a"]),
        (["w -a", "w +a"], ["~a"]),
        (["?a"], ["?a"]),
        (["?a", "~a"], ["~a"]),
        (["a>b"], ["a>b"]),
        (["~a", "a>b", "~b"], ["a>b"]),
        (["+a", "a>b"], ["+b"]),
        (["a>b", "b>c"], ["a>c"]),
        (["a>b", "b>a"], []),
        (["~a", "a>b", "b>a"], ["~a"]),
        (["a>b", "-b"], ["-a"]),
        (["a>b", "w -a", "w +b"], ["a>b"]),
        (["w -a", "w +b", "a>b"], ["a>b"]),
        (["w +b", "w -a", "a>b"], ["a>b"]),
        (["a>b", "+a"], ["a>b", "+a"]),
        (["b>c", "a>b"], ["b>c", "a>b"]),
        (["a>t", "b>a", "t>b"], ["~a", "~b"]),
        (["d/>e/"], ["d/>e/"]),
        (["~d/a", "d/>e/"], ["d/>e/", "~e/a"]),
        (["+d/a", "d/>e/"], ["d/>e/", "+e/a"]),
        (["d/>e/", "w -d", "w -d/a", "w +e", "w +e/a"], ["d/>e/"]),
        (["w -d/a", "w +e/a", "d/>e/"], ["d/>e/"]),
        (["d/>e/", "+d/a", "w -d/a"], ["d/>e/"]),
        (["d/>e/", "~d/a", "w -d/a"], ["d/>e/", "-d/a"]),
        (["~d/a", "?d/e/a", "d/>d/e/"], ["d/>d/e/", "~d/e/a", "?d/e/e/a"]),
        (["~d/a", "~dd/a", "-d"], ["-d/a", "~dd/a", "-d"]),
    ],
)
def test_events_come_to_one_change_a_file(events: list[str], expected: list[str]) -> None:
    assert net(noted(*events)) == expected


def test_the_editor_s_word_for_a_change_goes_before_the_watcher_s() -> None:
    assert [change.source for change in noted("w ~a", "~a", "w ~a").net()] == ["editor"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (["~a"], ["~a", "w ~a"], []),
        (["+a"], ["w +a", "w ~a"], []),
        (["-a"], ["w -a"], []),
        (["a>b"], ["w -a", "w +b"], []),
        (["d/>e/"], ["w -d/x", "w +e/x"], []),
        (["~a"], ["-a"], ["-a"]),
        (["+a"], ["-a"], ["-a"]),
        (["-a"], ["+a"], ["+a"]),
        (["?a"], ["?a"], []),
        (["?a"], ["~a"], ["~a"]),
        (["~a"], ["a>b"], ["a>b"]),
    ],
)
def test_what_was_recorded_is_not_recorded_again_before_the_next_message(
    before: list[str], after: list[str], expected: list[str]
) -> None:
    changes = noted(*before)
    recorded = changes.net()
    changes.mark_recorded()
    assert net(changes) == []
    for line in after:
        changes.note(event(line))
    changes.start_after(None)
    assert [shown(change) for change in unrecorded(changes.net(), recorded)] == expected


def test_after_another_message_a_change_is_recorded_again() -> None:
    changes = noted("~a", "~b", "-c")
    changes.mark_recorded()
    changes.note(event("~a"))
    changes.start_after("m1")
    assert net(changes) == ["~a"]
    changes.mark_recorded()
    changes.note(event("-c"))
    assert net(changes) == ["-c"]


@pytest.mark.parametrize(
    ("recorded", "seen", "expected"),
    [
        (["~a"], ["w ~a"], []),
        (["+a"], ["w +a"], []),
        (["a>b"], ["w -a"], []),
        (["a>b"], ["w +b"], []),
        (["w +b"], ["a>b"], ["a>b"]),
        (["-a"], ["w -a"], []),
        (["-a"], ["w +a"], ["+a"]),
        (["~a"], ["-a"], ["-a"]),
        (["~a"], ["?a"], []),
        (["?a"], ["~a"], ["~a"]),
        (["d/>e/"], ["d/>e/"], []),
    ],
)
def test_what_another_server_recorded_is_not_recorded_again(
    recorded: list[str], seen: list[str], expected: list[str]
) -> None:
    assert [shown(change) for change in unrecorded(noted(*seen).net(), noted(*recorded).net())] == expected


def test_a_flood_from_a_watcher_is_counted_and_what_the_editor_reports_is_still_recorded() -> None:
    changes = Changes()
    for number in range(MOST_FILES + 5):
        changes.note(Event(f"f{number}", "modified", "watcher"))
    changes.note(event("~mine"))
    assert changes.omitted == 5
    assert net(changes)[-1] == "~mine"
    changes.mark_recorded()
    assert (changes.omitted, changes.is_pending) == (0, False)


def test_of_too_many_changes_the_editor_s_and_those_of_known_files_stay() -> None:
    changes = noted(*(f"w ~f{number}" for number in range(50)), "~mine", "w -known").net()
    remaining, omitted = chosen(changes, 10, {"known"})
    assert omitted == 42
    assert {"~mine", "-known", "~f0"} <= {shown(change) for change in remaining}
    assert chosen(changes, 60, set()) == (changes, 0)


names = st.sampled_from(["a", "b", "d/a", "d/b", "e/a"])
lines = st.one_of(
    st.tuples(st.sampled_from("+~-?"), names).map("".join),
    st.tuples(names, names).filter(lambda two: two[0] != two[1]).map(">".join),
    st.sampled_from(["d/>e/", "e/>d/"]),
)
whose = st.sampled_from(["", "w "])


@given(st.lists(st.tuples(whose, lines).map("".join), max_size=30), st.integers(0, 30))
def test_each_file_is_recorded_once_however_events_come(expected: list[str], pause: int) -> None:
    changes = noted(*expected[:pause])
    changes.mark_recorded()
    for line in expected[pause:]:
        changes.note(event(line))
    files = [change.path for change in changes.net() if not change.path.endswith("/")]
    assert len(files) == len(set(files))
    changes.mark_recorded()
    assert net(changes) == []
