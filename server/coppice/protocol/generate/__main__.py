"""`python -m coppice.protocol.generate [CHECKOUT]` rewrites everything that is generated from the models."""

import json
import sys
from pathlib import Path
from typing import Final

from coppice.protocol.generate import markdown, schema, typescript

SCHEMA_FILE: Final = "docs/protocol.schema.json"
TYPESCRIPT_FILE: Final = "client-vscode/src/protocol.gen.ts"
PROSE_FILE: Final = "docs/protocol.md"


def main(arguments: list[str]) -> int:
    """Write the generated files of the checkout, by default the current folder. 0."""
    checkout = Path(arguments[0] if arguments else ".")
    for path, text in generated(checkout).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


def generated(checkout: Path) -> dict[Path, str]:
    """Each generated file with the text it ought to have; docs/protocol.md keeps its prose."""
    document = schema.build()
    prose = (checkout / PROSE_FILE).read_text(encoding="utf-8")
    return {
        checkout / SCHEMA_FILE: json.dumps(document, indent=2, ensure_ascii=False) + "\n",
        checkout / TYPESCRIPT_FILE: typescript.module(document),
        checkout / PROSE_FILE: markdown.fill(prose, document),
    }


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
