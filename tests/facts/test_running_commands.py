"""A check that was still running when its tool returned has neither passed nor failed."""

import pytest
from talk import run, tool, user

from coppice.compaction.facts.ledger import LedgerBuilder
from coppice.protocol.state import WorkState
from coppice.tree.messages import Message

BACKGROUND = "Command running in background with ID: b76. Output is being written to: /tmp/b76.output"
CELL = "Script running with cell ID 18\nWall time 10.0 seconds\nOutput:\n\n"


def state_of(*messages: Message) -> WorkState:
    return LedgerBuilder().add_messages([user("Test it."), *messages]).ledger.state


@pytest.mark.parametrize("output", [BACKGROUND, CELL])
def test_a_check_that_is_running_has_no_result(output: str) -> None:
    assert state_of(*run("cargo fmt --check\ncargo test", output)).checks == []
    passed = run("cargo test", "test result: ok. 5 passed; 0 failed")
    assert state_of(*passed, *run("cargo test", output)).checks == []


def test_the_rest_of_an_output_is_the_result_of_what_printed_it() -> None:
    result = "test result: ok. 6 passed; 0 failed"
    ended = f"Script completed\nWall time 0.0 seconds\nOutput:\n\n{result}"
    waits = [*tool("wait", {"cell_id": "18"}, CELL), *tool("wait", {"cell_id": "18"}, ended)]
    (check,) = state_of(*run("cargo test", CELL), *waits).checks
    assert (check.command, check.passed, check.result) == ("cargo test", True, result)


def test_a_call_without_a_cell_has_the_output_of_none() -> None:
    waits = run("make docs", CELL.replace("18", "None"))
    (check,) = state_of(*waits, *run("cargo test", "test result: ok. 6 passed; 0 failed")).checks
    assert check.command == "cargo test"


def test_a_command_in_the_background_is_a_job() -> None:
    (job,) = state_of(*run("cargo test", BACKGROUND)).jobs
    assert (job.id, job.command, job.state) == ("b76", "cargo test", "running")


def test_an_output_that_speaks_of_a_run_is_no_run() -> None:
    output = "The server is running.\ntest result: ok. 5 passed; 0 failed"
    assert [check.passed for check in state_of(*run("cargo test", output)).checks] == [True]
