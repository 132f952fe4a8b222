"""What tests of followed transcripts share."""

from pathlib import Path

import pytest

from coppice.settings.files import USER_FILE


@pytest.fixture
def keeps_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's settings say that what agents delete does not stay; every look is a complete one."""
    monkeypatch.setattr("coppice.service.conversations.following._COMPLETE_SECONDS", -1.0)
    file = tmp_path / "config" / USER_FILE
    file.parent.mkdir(exist_ok=True)
    file.write_text("[sources]\nkeepDeleted = false\n")
    return file
