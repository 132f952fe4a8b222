"""Values in Git's configuration files (https://git-scm.com/docs/git-config#_syntax)."""

import re
from collections.abc import Iterator
from typing import Final

_ITEM: Final = re.compile(
    r"""[#;][^\n]*+
    |\[[ \t]*+(?P<section>[\w.-]++)(?:[ \t]++"(?:[^"\\\n]|\\.)*+")?[ \t]*+\]
    |(?P<name>[A-Za-z][\w-]*+)[ \t]*+
     (?:=(?P<value>(?:"(?:[^"\\\n]|\\\r?\n|\\.)*+"|\\\r?\n|\\.|[^"\\\n\#;])*+))?
    """,
    re.VERBOSE,
)
_WRITTEN: Final = re.compile(r'"|\\(?:\r?\n|(.))')
_ESCAPED: Final = {"n": "\n", "t": "\t", "b": "\b"}


def git_config_values(text: str) -> Iterator[tuple[str, str]]:
    """Each `section.name` in lower case, without the subsection, and its value, in their order."""
    section = ""
    for item in _ITEM.finditer(text.removeprefix("\ufeff")):
        if item["section"]:
            section = item["section"].lower()
        elif item["value"] is not None:
            yield f"{section}.{item['name'].lower()}", _WRITTEN.sub(_character, item["value"].strip())


def _character(match: re.Match[str]) -> str:
    return _ESCAPED.get(match[1], match[1]) if match[1] else ""
