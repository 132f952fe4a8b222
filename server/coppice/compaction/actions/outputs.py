"""What the output of a command shows: its own text, its exit code, counted results, its error."""

import json
import re
from typing import Any, Final

from coppice.compaction.text.sentences import clip, one_line
from coppice.escapes import without_sequences

_EDGE: Final = 20_000
"""Characters of each end of an output that are read; the recorded results of runs are in the last 3,000."""
_LAST_LINES: Final = 200
"""Lines of an output's end that are searched for counted results."""
_LONGEST_LINE: Final = 300  # characters of a line that counts results; recorded ones have at most 140
_HEADER: Final = re.compile(r"(?:[A-Z][^\n]{0,120}\n){1,8}Output:\n")
"""Lines about a run before what it printed, as Codex's command tool writes them."""
_EXIT_CODE: Final = re.compile(
    r"\bexit(?:ed)?(?:[ _-]?(?:code|status))?(?: with)?(?: (?:code|status))?[\"'>:= (]{1,4}(-?\d{1,5})\b",
    re.IGNORECASE,
)
_LEFT_RUNNING: Final = re.compile(
    r"(?:running|started|moved)[^\n]{0,60}?(?:background|session)[^\n]{0,40}?"
    r"\bID:? ?[\"'`]?([A-Za-z0-9_-]{1,60})",
    re.IGNORECASE,
)
"""How Claude Code, Codex, opencode and others report a command that they leave running."""
_WAITED_FOR: Final = re.compile(r"Script running with cell ID (\w{1,60})")
"""How Codex reports a command whose output another call asks for."""
_COUNT: Final = re.compile(
    r"(?<![\w.,/-])(?P<number>\d{1,7}|no) (?:[a-z]+ )?(?P<what>failed|failures?|failing|errors?"
    r"|problems?|issues?|passed|passing)\b"
    r"|\b(?P<label>failed|failures?|errors?|passed)[=:] ?(?P<after>\d{1,7})\b"
    r"|^(?P<verdict>FAILED|BUILD FAILED|FAIL|OK|PASS|BUILD SUCCESSFUL|All checks passed|test result: ok"
    r"|test result: FAILED|ok)\b",
    re.IGNORECASE,
)
_ERROR_LINE: Final = re.compile(
    r"\s{0,12}(?:E {3}|error\b|fatal:|panic|FAIL\b|[\w.]{0,80}(?:Error|Exception)\b[: ])"
    r"|.{0,200}\berror(?:\[|:| TS)|.{0,200}(?:command not found|No such file|Permission denied)",
    re.IGNORECASE,
)


def unwrapped(output: str) -> tuple[str, int | None]:
    """The text that a command printed, both ends of a long one, and the exit code that its tool states.

    Some tools return a JSON object in a string, others lines about the run before its output.
    """
    header = _HEADER.match(output[:1_200])
    if header is not None:
        return _edges(output[header.end() :]), exit_code_in(header[0])
    value = _json_object(output)
    text = next(
        (value[name] for name in ("output", "stdout", "text") if isinstance(value.get(name), str)), None
    )
    if text is None:
        text = _edges(output)
        return text, exit_code_in(f"{text[:400]}\n{text[-200:]}")
    stderr, metadata = value.get("stderr"), value.get("metadata")
    code = value.get("exit_code", value.get("exitCode"))
    if code is None and isinstance(metadata, dict):
        code = metadata.get("exit_code")
    whole = f"{text}\n{stderr}" if isinstance(stderr, str) and stderr else text
    return _edges(whole), code if isinstance(code, int) else None


def waiting_id(output: str) -> str:
    """The id by which a later call asks for the rest of `output`; empty where that is the whole of it."""
    match = _WAITED_FOR.match(output)
    return match[1] if match else ""


def left_running(output: str) -> str:
    """The id under which a tool left a command running; empty for one that ended."""
    match = _LEFT_RUNNING.search(output[:1_000])
    return match[1] if match else ""


def counted(output: str) -> tuple[bool | None, str]:
    """Whether the counts in the last lines of `output` show a run that passed, and the line that has them: of
    one that passed, a verdict alone says no more.

    None and an empty text where no line shows either.
    """
    for raw in reversed(output.splitlines()[-_LAST_LINES:]):
        line = raw[:_LONGEST_LINE].strip().strip("= -")
        matches = list(_COUNT.finditer(line))
        if not matches:
            continue
        numbers = [match for match in matches if not match["verdict"]]
        if not numbers and len(line) > 100:  # noqa: PLR2004 - a verdict begins a short line; prose is long
            continue
        passed = not any(map(_is_failure, matches))
        is_bare = passed and not numbers and not line[matches[0].end() :].startswith(" (")
        return passed, "" if is_bare else clip(one_line(line), 160)
    return None, ""


def error_line(output: str) -> str:
    """The line of `output` that states what went wrong, else its last one."""
    lines = [line for line in output.splitlines() if line.strip()]
    stated = next((line for line in lines if _ERROR_LINE.match(line[:400])), lines[-1] if lines else "")
    return clip(one_line(stated[:1_000]).removeprefix("E "), 200)


def _is_failure(match: re.Match[str]) -> bool:
    if match["verdict"]:
        return "fail" in match["verdict"].lower()
    what = (match["what"] or match["label"]).lower()
    return not what.startswith("pass") and (match["number"] or match["after"]).lower().lstrip("0") not in (
        "",
        "no",
    )


def exit_code_in(text: str) -> int | None:
    """The exit code that `text` states last."""
    codes = _EXIT_CODE.findall(text)
    return int(codes[-1]) if codes else None


def _edges(text: str) -> str:
    return without_sequences(text if len(text) <= 2 * _EDGE else f"{text[:_EDGE]}\n{text[-_EDGE:]}")


def _json_object(output: str) -> dict[str, Any]:
    if not output.startswith("{") or not output.rstrip().endswith("}"):
        return {}
    try:
        value = json.loads(output)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
