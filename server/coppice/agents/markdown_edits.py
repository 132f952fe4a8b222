"""Lines for an agent to read in a Markdown file of the user's."""

import re
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from coppice.agents.edits import Edit

_BEGIN: Final = "<!-- Added by `coppice connect`; `coppice connect --remove` takes it out. -->"
_END: Final = "<!-- End of what `coppice connect` added. -->"
_SECTION: Final = re.compile(
    rf"^{re.escape(_BEGIN)}\n(?:(?!{re.escape(_BEGIN)}).*\n)*?{re.escape(_END)}(?:\n|\Z)", re.MULTILINE
)


@dataclass(frozen=True, kw_only=True)
class Section(Edit):
    """`lines` at the end of the file, between two comments."""

    lines: str

    @override
    def applied(self, text: str | None) -> str:
        section = f"{_BEGIN}\n{self.lines}{_END}\n"
        place = _SECTION.search(text or "")
        if place is not None and place[0] == section:
            return text or ""
        rest = self.removed(text or "", None)
        gap = "" if not rest or rest.endswith("\n\n") else "\n" if rest.endswith("\n") else "\n\n"
        return rest + gap + section

    @override
    def removed(self, text: str, before: str | None) -> str:
        place = _SECTION.search(text)
        if place is None:
            return text
        if before is not None and text[: place.start()].rstrip("\n") == before.rstrip("\n"):
            return before + text[place.end() :]
        return text[: place.start()].removesuffix("\n") + text[place.end() :]

    @staticmethod
    def is_there(text: str | None) -> bool:
        """Whether the text has such lines, of this version or another."""
        return _SECTION.search(text or "") is not None
