"""Looks at transcripts after the first see what changed, without listing folders or reading the catalog."""

import os
import time
from pathlib import Path

import pytest

from coppice.service.conversations.looking import Look
from coppice.settings import SourceSettings
from coppice.sources.watching import FolderWatch
from coppice.store.transcript_catalog import TranscriptCatalog

_LONG_AGO = time.time() - 1000


def watch(root: Path) -> FolderWatch:
    return FolderWatch([str(root)], lambda name: name.endswith(".jsonl"), depth=2, most=100)


def names(watched: FolderWatch) -> list[str]:
    return sorted(Path(path).name for path, _ in watched.changed())


def settle(*folders: Path) -> None:
    """As if nothing had changed in them for long."""
    for folder in folders:
        os.utime(folder, (_LONG_AGO, _LONG_AGO))


def test_a_later_look_gives_what_is_new_or_has_grown(tmp_path: Path) -> None:
    below = tmp_path / "below"
    below.mkdir()
    (tmp_path / "a.jsonl").write_text("a")
    (below / "b.jsonl").write_text("b")
    (below / "other.txt").write_text("no transcript")
    watched = watch(tmp_path)
    assert names(watched) == ["a.jsonl", "b.jsonl"]
    assert names(watched) == []
    (below / "b.jsonl").write_text("more")
    (below / "new").mkdir()
    (below / "new" / "c.jsonl").write_text("c")
    assert names(watched) == ["b.jsonl", "c.jsonl"]
    (below / "b.jsonl").unlink()
    assert names(watched) == []
    (below / "b.jsonl").write_text("again")
    assert names(watched) == ["b.jsonl"]


def test_a_file_that_was_empty_is_seen_when_it_grows(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.touch()
    watched = watch(tmp_path)
    assert names(watched) == []
    path.write_text("a")
    settle(tmp_path)
    assert names(watched) == ["a.jsonl"]


def test_a_folder_that_comes_later_is_watched(tmp_path: Path) -> None:
    watched = watch(tmp_path / "later")
    assert names(watched) == []
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "a.jsonl").write_text("a")
    assert names(watched) == ["a.jsonl"]


def test_a_folder_is_listed_again_only_when_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / str(number) for number in range(5)]
    for folder in folders:
        folder.mkdir()
        (folder / "a.jsonl").write_text("a")
    settle(tmp_path, *folders)
    watched = watch(tmp_path)
    names(watched)
    listed: list[str] = []
    scandir = os.scandir

    def counted(folder: str) -> object:
        listed.append(folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", counted)
    assert names(watched) == []
    assert listed == []
    (folders[2] / "b.jsonl").write_text("b")
    assert names(watched) == ["b.jsonl"]
    assert listed == [str(folders[2])]


def test_a_folder_that_just_changed_is_listed_again(tmp_path: Path) -> None:
    """A file may come within one step of the clock, which leaves the folder's time as it was."""
    watched = watch(tmp_path)
    names(watched)
    modified = tmp_path.stat()
    (tmp_path / "a.jsonl").write_text("a")
    os.utime(tmp_path, ns=(modified.st_atime_ns, modified.st_mtime_ns))
    assert names(watched) == ["a.jsonl"]


def test_the_catalog_is_asked_for_what_changed_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "pi"
    (folder / "sessions").mkdir(parents=True)
    for number in range(4):
        header = f'{{"type": "session", "id": "s{number}", "cwd": "/work"}}\n'
        (folder / "sessions" / f"s{number}.jsonl").write_text(header)
    asked: list[object] = []
    readings = TranscriptCatalog.readings

    def counted(self: TranscriptCatalog, of: object = None) -> object:
        asked.append(of if of is None else sorted(of))  # type: ignore[call-overload]
        return readings(self, of)  # type: ignore[arg-type]

    monkeypatch.setattr(TranscriptCatalog, "readings", counted)
    settings = SourceSettings(agents=["pi"], folders={"pi": str(folder)})
    look = Look("file:///work", settings, TranscriptCatalog(tmp_path))
    assert len(look.changed(lambda: None)) == 4
    assert look.changed(lambda: None) == []
    with (folder / "sessions" / "s2.jsonl").open("a") as file:
        file.write("{}\n")
    (followed,) = look.changed(lambda: None)
    assert followed.reading.key == "s2"
    assert asked == [None, [("pi", "s2")]]
    look.look_again(followed)
    assert look.changed(lambda: None) == [followed]
