"""Documents that a long conversation showed: each command is compared with a bounded number of them."""

import pytest

from coppice.compaction.actions.action import Action, action_of
from coppice.compaction.facts import documents
from coppice.compaction.facts.quotations import Quotations
from coppice.files.shell_scanner import Command
from coppice.protocol.ledger import Quotation
from coppice.tree.messages import ToolCall

SHOWN = 3 * documents._MOST_FOLLOWED
TEXT = "The importer reads each line once and reports those that it cannot read. " * 10


def ran(command: str, number: int) -> Action:
    call = ToolCall.model_validate(
        {"type": "toolCall", "id": f"c{number}", "name": "bash", "arguments": {"command": command}}
    )
    return action_of(f"e{number}", call, TEXT, is_error=False)


def test_a_command_is_compared_with_the_newest_documents_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[Quotation] = []
    acts = documents._acts

    def counted(command: Command, document: Quotation) -> bool:
        compared.append(document)
        return acts(command, document)

    quotations = Quotations([])
    quotations.user("Work on what plan_7 says.")
    for number in range(SHOWN):
        quotations.action(ran(f"issues show plan_7 part-{number}", number))
    monkeypatch.setattr(documents, "_acts", counted)
    quotations.action(ran("make test", SHOWN))
    assert len(compared) == documents._MOST_FOLLOWED
    briefs = [each for each in quotations.write() if each.kind == "brief"]
    assert [each.entry_id for each in briefs] == [
        f"e{number}" for number in range(SHOWN - documents._MOST_FOLLOWED, SHOWN)
    ]


def test_one_of_them_that_is_closed_is_gone_and_one_in_work_is_the_newest() -> None:
    quotations = Quotations([])
    quotations.user("Work on what plan_7 says.")
    for number in range(4):
        quotations.action(ran(f"issues show plan_7 part-{number}", number))
    quotations.action(ran("issues close part-2", 4))
    quotations.action(ran("issues comment part-0", 5))
    briefs = [each.entry_id for each in quotations.write() if each.kind == "brief"]
    assert briefs == ["e1", "e3", "e0"]
