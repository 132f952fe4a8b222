"""What of a model's text nothing shows, or the state contradicts: corrected once, then reported."""

from scripted import GOOD, ScriptedModel
from talk import edit, request, run, user

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.models.chat import ModelError
from coppice.summarizers.llm import ModelSummarizer

SESSION = [user("Build the importer. Never use eval."), *edit("src/importer.py", "def read_rows(): ...")]


async def written(model: ScriptedModel, wanted: SummaryRequest) -> WrittenSummary:
    return await ModelSummarizer(model).summarize(wanted)


async def test_names_that_occur_nowhere_are_corrected_once_and_reported_when_they_stay() -> None:
    wrong = GOOD.replace("The port is 5433", "The port is in src/ports.py, as of commit abc1234")
    line = wrong.splitlines().index("- The port is in src/ports.py, as of commit abc1234")
    model = ScriptedModel(
        [wrong, f"{line}: - The port is in src/importer.py, as of commit abc1234\n2: ## Goal"]
    )
    result = await written(model, request(SESSION))
    first, second = model.requests
    assert second.messages[0] == first.messages[0]
    assert "nowhere: abc1234, src/ports.py" in str(second.messages[2].message)
    corrected = wrong.replace("src/ports.py", "src/importer.py")
    assert result.text == corrected
    assert result.details["repaired"] == ["corrected names"]
    assert [(each["kind"], each["text"]) for each in result.details["unsupported"]] == [("hash", "abc1234")]


async def test_a_correction_that_fails_leaves_the_text_as_it_is() -> None:
    wrong = GOOD.replace("The port is 5433", "The port is in src/ports.py")
    model = ScriptedModel([wrong, ModelError("No money.", kind="quota")])
    result = await written(model, request(SESSION))
    assert result.text == wrong
    assert result.details["unsupported"][0]["statement"] == "- The port is in src/ports.py"


async def test_what_the_state_contradicts_is_reported_and_stays() -> None:
    wrong = GOOD.replace("The port is 5433", "The port is 5433, and `pytest` passes")
    session = [*SESSION, *run("pytest", "1 failed in 0.10s", is_error=True)]
    result = await written(ScriptedModel([wrong]), request(session))
    assert result.text == wrong
    (claim,) = result.details["unsupported"]
    assert (claim["kind"], claim["text"]) == ("check", "pytest")
    assert claim["shown"] == "its newest run failed: 1 failed in 0.10s"
