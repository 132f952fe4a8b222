"""`coppice ledger`."""

import json
from pathlib import Path

from cli.conftest import Coppice
from cli.sessions import long_session


def test_the_user_s_messages_and_the_state_are_printed(coppice: Coppice, tmp_path: Path) -> None:
    file = long_session(tmp_path, 3)
    ran = coppice("ledger", file)
    assert ran.code == 0
    progress = ["Computing the facts …", "Computing the facts: Reading 12 entries (5 %)"]
    assert ran.err.splitlines()[:2] == progress
    messages, _, state = ran.out.partition("## State")
    assert "> Please write part 0 of the shop" in messages
    assert "- Not committed: src/part_0.py, src/part_1.py, src/part_2.py" in state


def test_json_is_what_the_server_answers(coppice: Coppice, tmp_path: Path) -> None:
    result = json.loads(coppice("ledger", long_session(tmp_path, 2), "--json").out)
    assert result["modifiedFiles"] == ["src/part_0.py", "src/part_1.py"]
    assert [file["path"] for file in result["ledger"]["state"]["uncommitted"]] == [
        "src/part_0.py",
        "src/part_1.py",
    ]
