"""Of what a model writes in sentences, what the conversation bears out is kept."""

import pytest

from coppice.compaction.asking.prompts import Prompts
from coppice.compaction.checking.plain_report import reported_sentences
from coppice.tree.messages import AssistantMessage, StopReason, TextContent

MATERIAL = """[User]: Build the importer for the yearly report. Never touch src/legacy.py.

[Assistant]: The importer reads the converters first and writes rows with write_rows.

[Tool result]: src/importer.py was edited. 12 passed, 1 failed: ValueError: bad row
"""
TRUE = "The importer reads the converters and writes rows with `write_rows`."


def report(text: str, stop: StopReason = "stop", material: str = MATERIAL) -> tuple[str, ...]:
    message = AssistantMessage(content=[TextContent(text=text)], stop_reason=stop)
    return reported_sentences(message, Prompts().leaks(), material)


def test_a_report_is_kept_sentence_by_sentence() -> None:
    other = "The yearly report failed with `ValueError`: bad row in the importer."
    assert report(f"{TRUE} {other}") == (TRUE, other)


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param("Sure! I have built the importer for the yearly report.", id="answers"),
        pytest.param("You can now build the importer for the yearly report.", id="speaks to somebody"),
        pytest.param("Shall the importer write the rows of the yearly report?", id="asks"),
        pytest.param("The importer was deployed to Kubernetes over night by Alice.", id="invents"),
        pytest.param("The importer writes rows to src/exporter_v2.py with write_rows.", id="invents a name"),
        pytest.param("The conversation above summarizes the importer and the converters.", id="about itself"),
        pytest.param(
            "The importer of the work above writes rows, as this report tells.", id="about the request"
        ),
        pytest.param("Let's read the converters and write the rows.", id="goes on with the work"),
        pytest.param("[Assistant]: The importer reads the converters and writes rows.", id="copies"),
        pytest.param("Never touch.", id="says nothing"),
        pytest.param("The importer reads the converters and writes the", id="half a sentence"),
        pytest.param('{"name": "read", "arguments": {"path": "src/importer.py"}}', id="calls a tool"),
        pytest.param("", id="nothing"),
        pytest.param(Prompts().sentences, id="our own words"),
        pytest.param("我已经完成了导入程序的编写工作。", id="speaks Chinese of itself"),
    ],
)
def test_whatever_is_no_report_of_the_conversation_is_left_out(sentence: str) -> None:
    assert report(sentence) == ()
    assert report(f"{TRUE}\n\n{sentence}") == (TRUE,)


def test_what_is_repeated_is_kept_once() -> None:
    assert report(f"{TRUE} {TRUE} {TRUE}") == (TRUE,)


def test_an_answer_that_was_cut_off_loses_its_last_sentence() -> None:
    assert report(f"{TRUE}\nThe converters are read first and the rows of the", "length") == (TRUE,)


def test_other_alphabets_are_borne_out_too() -> None:
    material = "[User]: 请为年度报告编写导入程序\n\n[Assistant]: 导入程序已经读取转换器并写入数据行"
    assert report("导入程序读取转换器并写入数据行。", material=material) == (
        "导入程序读取转换器并写入数据行。",
    )
    assert report("天气很好，适合去公园散步。", material=material) == ()
