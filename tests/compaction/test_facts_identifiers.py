"""Finding identifiers, ranking them, and packing them into a budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talk import edit, reply, run, user

from coppice.compaction.facts.extraction import extract_facts
from coppice.compaction.facts.identifiers import Kind, identifiers_in
from coppice.compaction.facts.packing import pack_identifiers
from coppice.compaction.facts.ranking import RankedIdentifier
from coppice.tree.messages import Message


@pytest.mark.parametrize(
    ("text", "identifier", "kind"),
    [
        ("see /home/me/app/lib/a_b.ex:12", "/home/me/app/lib/a_b.ex", Kind.PATH),
        ("open src/main.rs, please", "src/main.rs", Kind.PATH),
        ("in `mix.exs`.", "mix.exs", Kind.PATH),
        ("import './core/x.js'", "./core/x.js", Kind.PATH),
        ("the .gitignore file", ".gitignore", Kind.PATH),
        ("alias Spotter.Repo.Migrations", "Spotter.Repo.Migrations", Kind.TYPE),
        ("class SessionLive do", "SessionLive", Kind.TYPE),
        ("call load_rows(x)", "load_rows", Kind.NAME),
        ("Foo.render_row/2 here", "render_row/2", Kind.NAME),
        ("const parseRow = 1", "parseRow", Kind.NAME),
        ("set MAX_RETRIES=3", "MAX_RETRIES", Kind.VARIABLE),
        ("bd show spotter-4te", "spotter-4te", Kind.ID),
        ("fixes ABC-123", "ABC-123", Kind.ID),
        ("commit 0629d16 done", "0629d16", Kind.HASH),
        ("git push --force-with-lease now", "--force-with-lease", Kind.FLAG),
        ("see https://example.org/a?b=c#d.", "https://example.org/a?b=c#d", Kind.ADDRESS),
        ("needs v2.3.1 at least", "v2.3.1", Kind.VALUE),
        ("文件load_rows在src/main.rs里", "src/main.rs", Kind.PATH),
        ('{"path":"/a/b_c.py"}', "/a/b_c.py", Kind.PATH),
    ],
)
def test_an_identifier_is_found_exactly(text: str, identifier: str, kind: Kind) -> None:
    assert (identifier, kind) in set(identifiers_in(text))


@pytest.mark.parametrize(
    "text", ["just plain words here", "and/or", "He said: no.", "console.log(1)", "e.g. this"]
)
def test_prose_and_method_calls_give_no_paths(text: str) -> None:
    assert [found for found in identifiers_in(text) if found[1] is Kind.PATH] == []


@given(st.text(alphabet="ab_/.-@~:1A \n", max_size=300))
def test_every_identifier_stands_in_the_text(text: str) -> None:
    for identifier, _ in identifiers_in(text):
        assert identifier in text


@pytest.mark.parametrize(
    "text",
    [
        "a" * 3_000_000,
        "a_" * 1_000_000,
        "a/" * 1_000_000,
        "http://" * 300_000,
        "-" * 2_000_000,
        "a.b" * 700_000,
    ],
)
@pytest.mark.timeout(20)
def test_megabytes_without_a_space_do_not_hang(text: str) -> None:
    assert all(len(found) <= 320 for found, _ in identifiers_in(text))


def _order(messages: list[Message], *texts: str) -> list[str]:
    return [item.text for item in extract_facts(messages).identifiers if item.text in texts]


def test_what_the_assistant_uses_outranks_what_a_tool_only_printed() -> None:
    messages = [*run("ls", "other_name"), reply("I call own_name here"), *run("ls", "own_name other_name")]
    assert _order(messages, "own_name", "other_name") == ["own_name", "other_name"]


def test_later_use_outranks_earlier_use() -> None:
    messages = [reply("old_name"), *run("cat big.txt", "word " * 40_000), reply("new_name")]
    assert _order(messages, "old_name", "new_name") == ["new_name", "old_name"]


def test_what_the_kept_messages_use_ranks_higher() -> None:
    history = [*run("ls", "name_a name_b")]
    plain = [item.text for item in extract_facts(history).identifiers if item.text.startswith("name_")]
    kept = [item.text for item in extract_facts(history, [reply("now name_b")]).identifiers]
    assert plain == ["name_a", "name_b"]
    assert kept.index("name_b") < kept.index("name_a")


def test_a_path_is_ranked_by_its_use_under_another_root() -> None:
    messages = [*run("git status", "lib/used_file.ex lib/idle_file.ex"), *edit("/home/me/lib/used_file.ex")]
    assert _order(messages, "lib/used_file.ex", "lib/idle_file.ex") == [
        "lib/used_file.ex",
        "lib/idle_file.ex",
    ]


def _ranked(**weights: float) -> list[RankedIdentifier]:
    items = [RankedIdentifier(text, Kind.NAME, weight, 1) for text, weight in weights.items()]
    return sorted(items, key=lambda item: -item.weight)


def test_packing_stays_in_its_budget_and_prefers_weight_per_token() -> None:
    ranked = _ranked(light=0.1, heavy=0.9, middling=0.5)
    chosen = pack_identifiers(ranked, already_in="", max_tokens=2, count_tokens=lambda _: 1)
    assert [item.text for item in chosen] == ["heavy", "middling"]


def test_an_identifier_inside_a_chosen_one_costs_nothing() -> None:
    ranked = _ranked(abc_def_ghi=0.5, abc_def=0.5, other=0.6)
    chosen = pack_identifiers(ranked, already_in="", max_tokens=2, count_tokens=lambda _: 1)
    assert [item.text for item in chosen] == ["abc_def_ghi", "other"]


def test_what_the_summary_says_already_is_not_listed_again() -> None:
    chosen = pack_identifiers(
        _ranked(said=0.9, unsaid=0.1), already_in="it was said", max_tokens=9, count_tokens=len
    )
    assert [item.text for item in chosen] == ["unsaid"]


def test_facts_are_the_same_every_time() -> None:
    messages = [user("Fix load_rows in src/a.py"), *edit("src/a.py"), *run("make test", "3 passed")]
    assert extract_facts(messages) == extract_facts(messages)
