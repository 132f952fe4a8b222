"""How likely a user's sentence states a rule that lasts, for choosing among older messages."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Final

from coppice.compaction.text.markdown import CODE, FENCE
from coppice.compaction.text.sentences import QUESTION_MARKS, sentences_of

_LONGEST: Final = 400
"""Characters of a sentence that can be a rule; the labelled ones have at most 180."""
_MOST_CHARS: Final = 40_000
"""Characters of a message that are searched."""
_CHINESE: Final = re.compile(r"[\u4e00-\u9fff]")
_ENDS_NO_RULE: Final = (*QUESTION_MARKS, ":", "：", ",")
_OUTPUT: Final = re.compile(
    r"\s*(?:(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b"
    r"|[\[{(<|+$%>#]|/[\w:-]+\s*$|\.{3}|\d{2,4}[-:/]\d\d"
    r"|at (?:async )?\S+ ?\(|File \"|\S{0,80}(?:Error|Exception|Warning)\b|E {3}"
    r"|(?:import|from|def|class|const|let|var|return)\s"
    r"|.{0,200}[;{}]\s*$)"
)
"""Lines of code, logs and traces."""


def lasting_sentences(text: str) -> list[str]:
    """The sentences of a user's message that state a rule, in order.

    Code, output, lines of a paragraph between lines of output and quoted lines are left out. Linear in the
    length of `text`.
    """
    lines, fenced, output = list[str](), False, -1
    for line in text[:_MOST_CHARS].splitlines():
        if FENCE.match(line):
            fenced = not fenced
            continue
        is_output = _OUTPUT.match(line[:_LONGEST]) is not None
        if is_output and output >= 0:
            lines[output:] = [""]
        output = len(lines) if is_output else output if line.strip() else -1
        is_skipped = fenced or is_output or line.lstrip().startswith(">")
        lines.append("" if is_skipped else line.rstrip())
    return [sentence for sentence in sentences_of("\n".join(lines)) if is_lasting(sentence)]


def is_lasting(sentence: str) -> bool:
    """Whether a sentence reads like a rule, by the weighted features of its language."""
    text = sentence.strip()
    return len(text) <= _LONGEST and not text.rstrip("*_").endswith(_ENDS_NO_RULE) and _has_features(text)


@lru_cache(maxsize=2_048)
def _has_features(sentence: str) -> bool:
    text = sentence.lower().replace("’", "'")
    if not CODE.sub("", text):
        return False
    language = _languages()["chinese" if _CHINESE.search(text) else "english"]
    return language.bias + sum(weight for pattern, weight in language.features if pattern.search(text)) > 0


@dataclass(frozen=True, slots=True)
class _Language:
    bias: float
    features: tuple[tuple[re.Pattern[str], float], ...]


@cache
def _languages() -> dict[str, _Language]:
    file = resources.files("coppice.compaction.text").joinpath("data/lasting.toml")
    return {
        name: _Language(
            table["bias"], tuple((re.compile(each["pattern"]), each["weight"]) for each in table["features"])
        )
        for name, table in tomllib.loads(file.read_text(encoding="utf-8")).items()
    }
