"""`python -m coppice.protocol.generate [CHECKOUT]` rewrites everything that is generated from the models."""

import sys
from pathlib import Path

from coppice.protocol.generate.files import generated


def main(arguments: list[str]) -> int:
    """Write the generated files of the checkout, by default the current folder. 0."""
    checkout = Path(arguments[0] if arguments else ".")
    for path, text in generated(checkout).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
