"""Which file of a checkout holds what is generated."""

import json
from pathlib import Path
from typing import Final

from coppice.protocol.generate import markdown, schema, typescript

SCHEMA_FILE: Final = "docs/protocol.schema.json"
TYPESCRIPT_FILE: Final = "client-vscode/src/protocol.gen.ts"
PROSE_FILE: Final = "docs/protocol.md"


def generated(checkout: Path) -> dict[Path, str]:
    """Each generated file with the text it ought to have; docs/protocol.md keeps its prose."""
    document = schema.build()
    prose = (checkout / PROSE_FILE).read_text(encoding="utf-8")
    return {
        checkout / SCHEMA_FILE: json.dumps(document, indent=2, ensure_ascii=False) + "\n",
        checkout / TYPESCRIPT_FILE: typescript.module(document),
        checkout / PROSE_FILE: markdown.fill(prose, document),
    }
