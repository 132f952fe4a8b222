"""`coppice ledger`."""

import json
from pathlib import Path

from cli.conftest import Coppice
from cli.sessions import long_session


def test_the_facts_are_printed_by_kind(coppice: Coppice, tmp_path: Path) -> None:
    file = long_session(tmp_path, 3)
    ran = coppice("ledger", file)
    assert ran.code == 0
    assert ran.out.startswith("Requests, oldest first:\n- Please write part 0 of the shop")
    assert "Changed and not committed: src/part_2.py" in ran.out
    assert "src/part_0.py" in ran.out


def test_json_is_what_the_server_answers(coppice: Coppice, tmp_path: Path) -> None:
    result = json.loads(coppice("ledger", long_session(tmp_path, 2), "--json").out)
    assert result["modifiedFiles"] == ["src/part_0.py", "src/part_1.py"]
    assert [file["path"] for file in result["ledger"]["uncommitted"]] == ["src/part_0.py", "src/part_1.py"]
