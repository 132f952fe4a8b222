"""What is generated from the models is what the checkout holds."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from coppice.protocol.generate import schema, typescript
from coppice.protocol.generate.__main__ import generated

CHECKOUT = Path(__file__).parents[2]


def stale_files() -> list[str]:
    return [
        path.relative_to(CHECKOUT).as_posix()
        for path, text in generated(CHECKOUT).items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def test_nothing_generated_has_drifted() -> None:
    assert stale_files() == [], "run: python -m coppice.protocol.generate"


def test_a_model_of_the_same_name_elsewhere_changes_nothing() -> None:
    class UsageState(BaseModel):
        """Of another package."""

    assert stale_files() == [], UsageState


def test_every_definition_is_used() -> None:
    document = schema.build()
    used = set(
        schema.references(
            [document[key] for key in ("handshake", "requests", "serverRequests", "notifications")]
        )
    )
    waiting = list(used)
    while waiting:
        more = set(schema.references(document["$defs"][waiting.pop()])) - used
        used |= more
        waiting.extend(more)
    assert used == document["$defs"].keys()


def test_the_tables_have_the_codes_of_the_contract() -> None:
    assert schema.error_codes().keys() == {
        "unknown-conversation",
        "unknown-entry",
        "unknown-note",
        "invalid-note",
        "stale-leaf",
        "id-conflict",
        "nothing-to-compact",
        "nothing-to-continue",
        "conversation-busy",
        "too-many-requests",
        "no-model",
        "model-failed",
        "summary-rejected",
        "context-overflow",
        "work-too-long",
        "out-of-memory",
        "import-failed",
        "storage-failed",
        "result-too-large",
        "cancelled-by-hook",
    }


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        ({"type": "integer"}, "number"),
        ({"type": "array", "items": {"type": "string"}}, "string[]"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, '("a" | "b")[]'),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}, {"type": "null"}]}, "number | null"),
        ({"$ref": "#/$defs/Entry"}, "Entry"),
        ({"const": True}, "true"),
        ({"type": "object", "additionalProperties": True}, "Record<string, unknown>"),
        ({"type": "object", "additionalProperties": {"type": "boolean"}}, "Record<string, boolean>"),
        ({}, "unknown"),
    ],
)
def test_a_schema_has_its_type(described: dict[str, Any], expected: str) -> None:
    assert typescript.type_of(described) == expected
