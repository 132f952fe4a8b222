"""Of older messages the rules stay before the rest of any of them."""

from dataclasses import replace

from talk import request

from coppice.compaction.facts.user import only_rules
from coppice.compaction.writing.user_messages import user_messages_section
from coppice.protocol.ledger import LedgerMessage, WorkLedger
from coppice.summarizers.offline import summarize_offline
from coppice.tokens.counting import count_tokens

RULE = "Never call legacy_pay() from checkout.py."


def section(*texts: str, room: int) -> str:
    messages = [LedgerMessage(entry_id=f"e{n}", text=text, source="user") for n, text in enumerate(texts)]
    return user_messages_section(messages, room, count_tokens, {})


def test_a_rule_of_long_ago_outlasts_requests_that_came_after_it() -> None:
    requests = [f"Now write part number {n} of the importer for the shop, please." for n in range(40)]
    text = section("Build the importer.", f"{RULE} It pays twice.", *requests, room=400)
    assert f"> {RULE}" in text
    assert "part number 39" in text
    assert "part number 20 " not in text
    assert count_tokens(text) <= 400


def test_of_old_requests_the_first_ones_stay_next_to_the_newest() -> None:
    requests = [f"Now write part number {n} of the importer for the shop, please." for n in range(40)]
    text = section("Build the importer.", *requests, room=400)
    assert "part number 1 " in text
    assert "part number 33 " in text
    assert "part number 20 " not in text


def test_a_message_that_is_shown_whole_is_not_shown_in_short() -> None:
    text = section("Build the importer.", f"{RULE} It pays twice.", "Go on.", *["More."] * 6, room=2_000)
    assert f"> {RULE} It pays twice." in text
    assert text.count("legacy_pay") == 1


def test_a_rule_inside_a_long_message_is_not_lost_when_there_is_room_for_a_part_of_it() -> None:
    talk = " ".join(f"The row number {n} came from the warehouse in the night." for n in range(60))
    text = section("Build the importer.", f"{talk} {RULE} {talk}", *["More."] * 6, room=800)
    assert RULE in text


def test_an_old_long_request_shows_its_beginning_before_its_rules() -> None:
    plan = f"PLEASE IMPLEMENT THIS PLAN:\n# One importer\n\n{'The rows came at night. ' * 60}\n\n{RULE}"
    requests = [f"Now write part number {n} of the importer for the shop, please." for n in range(40)]
    text = section("Build the shop.", plan, *requests, room=400)
    assert "> [shortened]\n> PLEASE IMPLEMENT THIS PLAN:\n> One importer\n> The rows came at night.\n" in text
    assert f"\n> […]\n> {RULE}\n" in text
    assert text.count(RULE) == 1


def test_what_an_old_request_keeps_is_the_same_the_next_time() -> None:
    first = f"We saw that {'the rows came before the rates and ' * 9}were gone. {RULE} Go on."
    for text in (first, f"Import it. {first}", f"{RULE} {first}"):
        once = only_rules(LedgerMessage(text=text))
        assert once is not None
        assert only_rules(once) == once
        assert once.shortened


def test_what_the_user_refused_is_kept_as_it_is() -> None:
    refusal = LedgerMessage(text=f"Does it have a map? {RULE}", source="refusal", about="Edit map.py")
    assert only_rules(refusal) == refusal


def test_of_a_long_memory_file_no_sentences_are_taken_out_of_their_place() -> None:
    described = "\n".join(
        f"The step number {n} never waits for all other steps of the run." for n in range(90)
    )
    long = f"# Steps\n{described}\n{RULE}\n{described}"
    messages = [LedgerMessage(text=long, source="user"), LedgerMessage(text=long, source="memory")]
    asked, remembered = (user_messages_section([each], 400, count_tokens, {}) for each in messages)
    assert "characters left out" in asked
    assert "characters left out" in remembered
    assert (RULE in asked, RULE in remembered) == (True, False)


def test_constraints_point_to_a_long_memory_file_which_is_quoted_without_empty_lines() -> None:
    long = "# Steps\n\n" + "The step never waits.\n\n" * 60
    messages = [LedgerMessage(text=long, source="memory"), LedgerMessage(text=long, source="user")]
    for message, pointers in zip(messages, (1, 0), strict=True):
        text = summarize_offline(replace(request([]), ledger=WorkLedger(messages=[message])))
        assert text.count("(memory message) Quoted below, so far as there is room.") == pointers
    remembered, asked = (user_messages_section([each], 4_000, count_tokens, {}) for each in messages)
    assert ("\n>\n" in asked, "\n>\n" in remembered) == (True, False)
    assert remembered.count("The step never waits.") == 60
