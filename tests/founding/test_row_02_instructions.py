"""Row 2: constraints of developer, system and memory messages are carried, with their source."""

import pytest
from documents import parts_of
from scripted import ScriptedModel
from talk import edit, request, user

from coppice.compaction.facts.ledger import LedgerBuilder
from coppice.compaction.summary import Summary
from coppice.compaction.summary_parser import parse_summary
from coppice.summarizers.llm import ModelSummarizer
from coppice.summarizers.offline import summarize_offline
from coppice.tree.entries import CustomMessageEntry
from coppice.tree.messages import CustomRoleMessage, DeveloperMessage, Message, SystemMessage

RULE = "Every public function must have a docstring."


@pytest.mark.parametrize(
    ("message", "source"),
    [(DeveloperMessage(content=RULE), "developer"), (SystemMessage(content=RULE), "system")],
)
def test_a_rule_is_carried_word_for_word_with_its_source(message: Message, source: str) -> None:
    text = summarize_offline(request([message, user("Build the importer"), *edit("a.py")]))
    assert f"({source} message) {RULE}" in parse_summary(text).constraints


def test_a_rule_of_an_extension_s_memory_is_carried() -> None:
    memory = CustomMessageEntry(
        id="m1",
        parent_id=None,
        timestamp="2026-03-01T09:00:00.000Z",
        custom_type="memory",
        content=RULE,
        display=True,
    )
    (rule,) = LedgerBuilder().add([memory]).ledger.messages
    assert (rule.text, rule.source, rule.entry_id) == (RULE, "memory", "m1")


async def test_a_model_that_writes_it_under_constraints_is_not_corrected() -> None:
    claim = "Public functions must have a docstring, every one."
    answer = Summary(goal=("Build a.py",), constraints=(claim,)).render()
    history = [DeveloperMessage(content=RULE), user("Build the importer"), *edit("a.py")]
    written = await ModelSummarizer(ScriptedModel([answer])).summarize(request(history))
    assert written.text == answer


async def test_a_model_that_writes_none_does_not_lose_it() -> None:
    answer = Summary(goal=("Build a.py",)).render()
    history = [DeveloperMessage(content=RULE), user("Build the importer"), *edit("a.py")]
    asked = request(history)
    written = await ModelSummarizer(ScriptedModel([answer])).summarize(asked)
    assert written.text == answer
    assert f"> [developer]\n> {RULE}" in parts_of(asked).messages


def test_a_memory_file_among_messages_without_entries_is_carried() -> None:
    memory = CustomRoleMessage(custom_type="memory", content=RULE)
    ledger = LedgerBuilder().add_messages([memory, user("Build the importer")]).ledger
    assert [(each.text, each.source) for each in ledger.messages] == [
        (RULE, "memory"),
        ("Build the importer", "user"),
    ]
