"""A record of a type that no version has is counted as unknown, whoever reads it."""

import json

import pytest
from attacks.test_any_session_values import SESSIONS
from records_counting import counts_of
from session_samples import TIME, Json

from coppice.formats.reading import open_session
from coppice.formats.session import SessionReader

MADE_UP = "made-up"
PLACE: Json = {
    "id": "x",
    "uuid": "x",
    "sessionId": "s",
    "parentId": None,
    "parentUuid": None,
    "timestamp": TIME,
}
RECORDS: dict[str, Json] = {
    "codex": {"type": MADE_UP, "payload": {}, "timestamp": TIME},
    "copilot": {"type": f"session.{MADE_UP}", "data": {}, **PLACE},
    "qwen": {"type": "system", "subtype": MADE_UP, "systemPayload": {}, **PLACE},
}


def read(name: str, *more: Json) -> SessionReader:
    lines = [json.dumps(each) for each in (*SESSIONS[name], *more)]
    return open_session("\n".join(lines), name.split(maxsplit=1)[0])


@pytest.mark.parametrize("name", SESSIONS)
def test_a_record_of_a_made_up_type_is_unknown(name: str) -> None:
    before = counts_of(read(name))
    made_up = RECORDS.get(name, {"type": MADE_UP, **PLACE})
    after = counts_of(read(name, made_up, {**made_up, "id": "y", "uuid": "y"}))
    assert after.unknown - before.unknown == 2
    assert after.ignored == before.ignored
