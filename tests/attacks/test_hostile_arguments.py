"""The argument of a tool call costs linear time, whatever is in it: a literal that never ends, for instance.

Everything is computed in the test's own process, so that its processor time counts.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from attacks.hostile_texts import each_text
from attacks.linear_time import assert_linear
from attacks.worker_processes import no_worker_process
from cli.conftest import Coppice, coppice, home
from cli.sessions import assistant, messages, user, write_session
from conftest_service import tool

from coppice.agents.completing import lost_text

__all__ = ["coppice", "home", "no_worker_process"]

pytestmark = pytest.mark.usefixtures("no_worker_process")

CHARS: Final = 1_200
"""Characters of each argument in the shortest session: at 16 times that, a scan from each of them shows."""
BEGINNINGS: Final = ("", "run(cmd, ", "git commit -m ", "cd a && ", "cat <<'E'\n", "python -c '", "echo $(")
ARGUMENTS: Final[tuple[Callable[[str], tuple[str, dict[str, Any]]], ...]] = (
    *(lambda text, begun=begun: ("bash", {"command": begun + text}) for begun in BEGINNINGS),
    lambda text: ("shell", {"cmd": ["bash", "-lc", text]}),
    lambda text: ("exec", {"input": f"run(cmd, {text}"}),
    lambda text: ("apply_patch", {"input": f"*** Begin Patch\n*** Update File: a.py\n{text}"}),
    lambda text: ("Edit", {"file_path": "a.py", "old_string": text, "new_string": f"run(cmd, {text}"}),
    lambda text: ("write", {"path": text, "content": text}),
    lambda text: ("TodoWrite", {"todos": [{"content": text, "status": "pending"}]}),
    lambda text: ("other", {"inner": {text: [text]}}),
)
hostile = each_text(('\\"', "\\`"), drawn=6)


def session(folder: Path, unit: str, times: int) -> Path:
    """A session with calls whose arguments are the unit, repeated."""
    text = unit * (times * CHARS // len(unit))
    calls = [
        entry["message"]
        for number, argument in enumerate(ARGUMENTS)
        for entry in tool(f"c{number}", *argument(text), "done")
    ]
    written = [user("Build the importer."), *calls, assistant("I did."), *messages(2)]
    return write_session(folder / f"{times}.jsonl", written)


def ran(coppice: Coppice, *arguments: str | Path) -> None:
    done = coppice(*arguments)
    assert done.code == 0, done.err


def completed(file: Path) -> None:
    assert lost_text(file, "pi", summary="Go on.", recorded=False)


@hostile
@pytest.mark.parametrize("way", ["compact", "ledger", "adapter"])
def test_an_argument_costs_linear_time(coppice: Coppice, tmp_path: Path, unit: str, way: str) -> None:
    """`compact` makes the preview first."""
    ways: dict[str, Callable[[Path], object]] = {
        "compact": partial(ran, coppice, "compact", "--keep-recent", "500"),
        "ledger": partial(ran, coppice, "ledger"),
        "adapter": completed,
    }
    assert_linear(f"{way} {unit!r}", ways[way], partial(session, tmp_path, unit))
